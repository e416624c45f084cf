#!/usr/bin/env bash
# Lets official clients of OpenAI's API talk to a running server: openai for Python and Node.js, langchain-openai, and
# the AI SDK. Needs Python 3 with venv, Node.js, PyPI and npm.
#
# Exits with 77 if one of them is missing or cannot be reached. The clients are installed once, under the target
# directory. The suite starts the server and runs this with:
#   BASE_URL  where the server listens, with /v1
#   API_KEY   a key with conversations:write
#   AGENT     an agent with a text that is public, which tells when the museum opens
#   PAUSED    a paused agent
set -euo pipefail
cd "$(dirname "$0")/../.."
checks="$PWD/tests/clients/openai"
work="${CARGO_TARGET_DIR:-$PWD/target}/openai-clients"
mkdir -p "$work"

skip() {
  echo "clients: skipped, $1" >&2
  exit 77
}
command -v python3 >/dev/null || skip "python3 is not installed"
command -v npm >/dev/null || skip "npm is not installed"

cp "$checks/package.json" "$checks/requirements.txt" "$checks"/*.py "$checks"/*.mjs "$work/"
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
# A proxy of the environment is for other hosts.
export NO_PROXY="*" no_proxy="*"

echo "openai for Python"
python/bin/python openai_python.py
echo "langchain-openai"
python/bin/python langchain_openai_client.py
echo "Open WebUI"
python/bin/python open_webui.py
echo "openai for Node.js"
node openai_node.mjs
echo "the AI SDK"
node ai_sdk.mjs
echo "clients: all of them understand the server"
