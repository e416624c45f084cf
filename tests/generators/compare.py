"""Compares the operations of the document with those of the generated clients.

Usage: compare.py DOCUMENT FOLDER
"""

import json
import re
import sys
from pathlib import Path

document = json.loads(Path(sys.argv[1]).read_text())
folder = Path(sys.argv[2])
operations = [operation for item in document["paths"].values() for operation in item.values()]
ids = {operation["operationId"] for operation in operations}
tags = {tag["name"] for tag in document["tags"]}

assert len(ids) == len(operations), "an operation id is used twice"
for operation in operations:
    assert len(operation["tags"]) == 1 and operation["tags"][0] in tags, operation["operationId"]


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


modules = {
    path.stem: path.parent.name
    for path in (folder / "python-client/api").glob("*/*.py")
    if path.stem != "__init__"
}
assert set(modules) == {snake(name) for name in ids}, "openapi-python-client: other operations"
# Generators disagree about where the words of a name such as `OpenAI` begin.
groups = {name.lower().replace(" ", "") for name in tags}
folders = {name.replace("_", "") for name in modules.values()}
assert folders <= groups, f"openapi-python-client: {folders - groups}"
assert "default" not in modules.values(), "openapi-python-client: an operation without a tag"

types = (folder / "types.ts").read_text()
described = types[types.index("export interface operations {") :]
assert set(re.findall(r"^    (\w+): \{$", described, re.M)) == ids, "openapi-typescript: other operations"

functions = re.findall(r"^export const (\w+) =", (folder / "hey-api/sdk.gen.ts").read_text(), re.M)
assert set(functions) == ids, "@hey-api/openapi-ts: other operations"
print(f"{len(ids)} operations in each client")
