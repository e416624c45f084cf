#!/usr/bin/env bash
# Installs the programs of others that `cargo trial bench` compares with, once, in the target directory, and prints
# where. Exits with 77 if Python, npm or one of their registries is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/packages.sh
name="programs of others"
checks="$PWD/trials/beside"
work="${CARGO_TARGET_DIR:-$PWD/target}/beside"
install_packages 1>&2
pwd
