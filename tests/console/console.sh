#!/usr/bin/env bash
# Uses the console of a running server in a real browser, as a newcomer, by keyboard alone, with a restricted key and with hostile
# content; lets axe examine every view in both schemes and at 360 px, and keeps pictures in the folder target/console-pictures.
#
# Needs Python 3 with venv, PyPI, npm with its registry, and Debian's package chromium. Exits with 77 if one of them is missing or
# cannot be reached; with CI set, a missing browser is a failure.
# Usage: CICERONE_API_KEY=… tests/console/console.sh SERVER [STEP…]
# The server must allow webhooks and crawls to loopback. CONSOLE_PICTURES names another folder for the pictures.
set -euo pipefail
server="$1"
shift
cd "$(dirname "$0")/../.."
checks="$PWD/tests/console"
work="${CARGO_TARGET_DIR:-$PWD/target}/console-tests"
export CONSOLE_SERVER="$server" CONSOLE_PICTURES="${CONSOLE_PICTURES:-${CARGO_TARGET_DIR:-$PWD/target}/console-pictures}" PYTHONDONTWRITEBYTECODE=1
mkdir -p "$work"

skip() {
  echo "console: skipped, $1" >&2
  exit 77
}
command -v python3 >/dev/null || skip "python3 is not installed"
command -v npm >/dev/null || skip "npm is not installed"
CHROMIUM="$(command -v chromium || command -v chromium-browser || true)"
if [ -z "$CHROMIUM" ]; then
  [ -z "${CI:-}" ] || { echo "console: chromium is not installed: apt-get install chromium" >&2; exit 1; }
  skip "chromium is not installed: apt-get install chromium"
fi
export CHROMIUM
cp "$checks/package.json" "$checks/requirements.txt" "$work/"
cd "$work"
if ! cmp -s requirements.txt installed-requirements.txt; then
  rm -rf python && python3 -m venv python || skip "python3 has no venv"
  python/bin/pip install --quiet --disable-pip-version-check --timeout 15 --retries 1 -r requirements.txt ||
    skip "PyPI is not reached"
  cp requirements.txt installed-requirements.txt
fi
if ! cmp -s package.json installed-package.json; then
  npm install --silent --no-audit --no-fund --fetch-retries=1 --fetch-timeout=15000 ||
    skip "npm is not reached"
  cp package.json installed-package.json
fi
exec python/bin/python "$checks/run.py" "$work/node_modules/axe-core/axe.min.js" "$@"
