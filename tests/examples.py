#!/usr/bin/env python3
"""Runs the named examples of Markdown pages against a running server. Usage: examples.py PAGE…

An example is a fenced block with a language (`sh`, `python`, `ts`) and a name: ```sh name=ask. The examples of one
language on one page are one program, in their order. A block ```text directly after the examples of a task is their output,
in which `…` stands for anything. Python and TypeScript are also type-checked. The environment has:

    SERVER  where the server listens; stands in for http://127.0.0.1:8080
    KEY     an API key; stands in for ck_… , and is $KEY in shell examples
    SITE    optional: a website, which stands in for https://museum.example
    PROGRAM optional: the program that shell examples call `cicerone`

The current folder has the folders that tests/clients/own/setup.sh makes: `python` and `node`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```(\w+)(?: name=([\w-]+))?\n(.*?)^```$", re.M | re.S)
MARK = "== example "
LANGUAGES = ("sh", "python", "ts")
TSC = {"strict": True, "target": "es2022", "module": "nodenext", "lib": ["es2022", "dom", "dom.iterable"], "types": []}
# A request that is refused fails, `cicerone` is the program, and `jq -r .name` works without jq.
PRELUDE = """
cicerone() { "$PROGRAM" "$@"; }
curl() { command curl --fail-with-body "$@"; }
command -v jq >/dev/null || jq() { python3 -c '
import json, sys
value = json.load(sys.stdin)
for name in sys.argv[-1].strip(".").split("."):
    value = value[name]
print(value if isinstance(value, str) else json.dumps(value))' "$@"; }
"""


def examples(page):
    """The examples of a page: language, name, program, expected output or None."""
    text = page.read_text()
    found = []
    group = []
    end = 0
    for block in FENCE.finditer(text):
        language, name, program = block.groups()
        if text[end : block.start()].strip():
            group = []
        end = block.end()
        if language == "text" and name is None:
            for example in group:
                example[3] = program
        elif name is not None:
            if language not in LANGUAGES:
                sys.exit(f"{page}: the example `{name}` is in `{language}`")
            group.append([language, name, program, None])
            found.append(group[-1])
    return found


def filled(program):
    program = program.replace("http://127.0.0.1:8080", os.environ["SERVER"]).replace("ck_…", os.environ["KEY"])
    return program.replace("https://museum.example", os.environ.get("SITE", "https://museum.example"))


class Program:
    """The examples of one language on one page."""

    def __init__(self, page, language, parts):
        self.page, self.language, self.parts = page, language, parts
        self.file = re.sub(r"\W", "_", f"{page.parent.name}_{page.stem}")

    def write(self, folder):
        mark = {"sh": "echo '{}'", "python": "print('{}', flush=True)", "ts": 'console.log("{}");'}[self.language]
        lines = [f"{mark.format(MARK + name)}\n{filled(program)}" for name, program, _ in self.parts]
        head = "set -euo pipefail\n" + PRELUDE if self.language == "sh" else ""
        suffix = {"sh": "sh", "python": "py", "ts": "ts"}[self.language]
        (folder / f"{self.file}.{suffix}").write_text(head + "\n".join(lines))

    def run(self, folder):
        command = {"sh": f"bash {self.file}.sh", "python": f"python {self.file}.py", "ts": f"node {self.file}.js"}
        command = command[self.language].split()
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        if ended.returncode != 0:
            sys.exit(f"{self.page}: {self.language} failed\n{ended.stdout}\n{ended.stderr}")
        outputs = dict(part.partition("\n")[::2] for part in ended.stdout.split(MARK)[1:])
        for name, _, expected in self.parts:
            if expected is not None and not is_as_expected(expected, outputs[name]):
                sys.exit(f"{self.page}: the output of `{name}` in {self.language} is not as it says\n{outputs[name]}")


def check_types(programs, folder):
    """Checks all programs at once, which is faster than one by one, and compiles those in TypeScript."""
    python = [f"{program.file}.py" for program in programs if program.language == "python"]
    if python:
        cache = str(Path("mypy-cache").absolute())
        arguments = ["mypy", "--cache-dir", cache, "--no-error-summary", "--scripts-are-modules", *python]
        subprocess.run(arguments, cwd=folder, check=True)
    typescript = [f"{program.file}.ts" for program in programs if program.language == "ts"]
    if typescript:
        (folder / "node_modules").symlink_to(Path("node/node_modules").absolute())
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": TSC, "files": typescript}))
        subprocess.run(["tsc"], cwd=folder, check=True)


def is_as_expected(expected, output):
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, output.strip(), re.S) is not None


programs = []
for name in sys.argv[1:]:
    page = Path(name).absolute()
    found = examples(page)
    for language in LANGUAGES:
        parts = [tuple(rest) for kind, *rest in found if kind == language]
        if parts:
            programs.append(Program(page, language, parts))
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    for program in programs:
        program.write(folder)
    check_types(programs, folder)
    for program in programs:
        program.run(folder)
        print(f"{program.page.name}: {len(program.parts)} in {program.language}", flush=True)
