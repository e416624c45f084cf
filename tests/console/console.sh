#!/usr/bin/env bash
# Uses the console of a running server in a real browser, as a newcomer, by keyboard alone, with a restricted key and with hostile
# content, and the widget on a page of another origin under a strict policy; lets axe examine everything in both schemes and on narrow
# screens, and keeps pictures in the folder target/console-pictures.
#
# Needs Python 3 with venv, PyPI, npm with its registry, and Debian's package chromium. Exits with 77 if one of them is missing or
# cannot be reached; with CI set, a missing browser is a failure.
# Usage: CICERONE_API_KEY=… tests/console/console.sh SERVER [STEP…]
# The server must allow webhooks and crawls to loopback. CONSOLE_PICTURES names another folder for the pictures.
set -euo pipefail
server="$1"
shift
cd "$(dirname "$0")/../.."
source tests/packages.sh
name="console"
checks="$PWD/tests/console"
target="${CARGO_TARGET_DIR:-$PWD/target}"
work="$target/console-tests"
CHROMIUM="$(command -v chromium || command -v chromium-browser || true)"
if [ -z "$CHROMIUM" ]; then
  [ -z "${CI:-}" ] || { echo "console: chromium is not installed: apt-get install chromium" >&2; exit 1; }
  skip "chromium is not installed: apt-get install chromium"
fi
export CHROMIUM CONSOLE_SERVER="$server" CONSOLE_PICTURES="${CONSOLE_PICTURES:-$target/console-pictures}" PYTHONDONTWRITEBYTECODE=1
install_packages
exec python/bin/python "$checks/run.py" "$work/node_modules/axe-core/axe.min.js" "$@"
