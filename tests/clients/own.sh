#!/usr/bin/env bash
# Packs and installs the clients of this repository, checks their types, runs the examples of their READMEs against
# a running server, and lets them talk to a hostile one. Needs Python 3.11, Node.js, PyPI and npm.
#
# Exits with 77 if one of them is missing or cannot be reached. The suite starts the server and runs this with:
#   SERVER  where the server listens
#   KEY     a key that may do everything
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/clients/own/setup.sh
checks="$root/tests/clients/own"

echo "types"
mypy --strict "$root/clients/python/src/cicerone"
echo "examples"
python3 "$root/tests/examples.py" "$root/clients/python/README.md" "$root/clients/typescript/README.md"
echo "hostile server"
python3 "$checks/hostile.py" python "$checks/hostile_python.py"
python3 "$checks/hostile.py" node "$work/node/hostile_node.mjs"
echo "own clients: both work and cope"
