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
source tests/packages.sh
name="clients"
checks="$PWD/tests/clients/openai"
work="${CARGO_TARGET_DIR:-$PWD/target}/openai-clients"
install_packages "$checks"/*.py "$checks"/*.mjs
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
