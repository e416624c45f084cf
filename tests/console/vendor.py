#!/usr/bin/env python3
"""Compares the files of the console that come from npm with their packages, byte by byte.

`vendor.json` names each package with its version and integrity. Most files are copies. Two are made from their package: the
icons (one symbol for each file of lucide) and the colours (each light and dark pair of a scale of Radix).

Needs npm and its registry; the tests of the crate check the recorded hashes without them.
Usage: tests/console/vendor.py [--write]    --write makes the files and records their hashes
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

CONSOLE = pathlib.Path(__file__).resolve().parents[2] / "crates" / "http" / "console"
RECORD = CONSOLE / "vendor.json"


def unpack(package, version, folder):
    """Downloads a package; returns its integrity and a function that reads its files."""
    command = ["npm", "pack", "--json", f"{package}@{version}", "--pack-destination", folder]
    made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[0]
    archive = tarfile.open(pathlib.Path(folder) / pathlib.Path(made["filename"]).name)
    return made["integrity"], lambda name: archive.extractfile(f"package/{name}").read()


def icons(read, names):
    """One sprite with a symbol for each icon."""
    symbols = []
    for name in names:
        drawing = re.search(r"<svg[^>]*>(.*)</svg>", read(f"icons/{name}.svg").decode(), re.S).group(1)
        drawing = " ".join(drawing.split()).replace("> <", "><")
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{drawing}</symbol>')
    head = "<!-- Icons of lucide (ISC), see vendor.json. -->\n"
    return (head + '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n").encode()


def colours(read, scales):
    """Each colour of the scales, for light and dark schemes."""
    lines = ["/* Scales of Radix Colors (MIT), made by tests/console/vendor.py: see vendor.json. */", ":root {"]
    for scale, steps in scales.items():
        light, dark = (
            dict(re.findall(rf"--{scale}-(\d+): (#[0-9a-f]+);", read(name).decode()))
            for name in (f"{scale}.css", f"{scale}-dark.css")
        )
        lines += [f"  --{scale}-{n}: light-dark({light[str(n)]}, {dark[str(n)]});" for n in steps]
    return ("\n".join([*lines, "}"]) + "\n").encode()


def main():
    write = "--write" in sys.argv[1:]
    record = json.loads(RECORD.read_text())
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        for package in record["packages"]:
            integrity, read = unpack(package["name"], package["version"], folder)
            if integrity != package["integrity"]:
                differences.append(f"{package['name']}: the registry has the integrity {integrity}")
                if write:
                    package["integrity"] = integrity
            for file in package["files"]:
                if "icons" in file:
                    content = icons(read, file["icons"])
                elif "scales" in file:
                    content = colours(read, file["scales"])
                else:
                    content = read(file["from"])
                path = CONSOLE / file["path"]
                if write:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                    file["sha256"] = hashlib.sha256(content).hexdigest()
                elif path.read_bytes() != content:
                    differences.append(f"{file['path']} differs from {package['name']} {package['version']}")
    if write:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        return
    if differences:
        sys.exit("\n".join(differences))
    print("console: all vendored files are those of their packages")


if __name__ == "__main__":
    main()
