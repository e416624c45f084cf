#!/usr/bin/env bash
# Runs the examples of the book, docs/book, against a running server. Needs Python 3.11, Node.js, PyPI and npm.
#
# Exits with 77 if one of them is missing or cannot be reached. The suite starts the server and runs this with:
#   SERVER  where the server listens
#   KEY     a key that may do everything
#   SITE    a website with more than one page
#   PROGRAM the program
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/clients/own/setup.sh
python3 "$root/tests/examples.py" "$root"/docs/book/*.md
echo "book: every example does what it says"
