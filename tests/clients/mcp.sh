#!/usr/bin/env bash
# Calls the MCP interface of a running server with unchanged official clients: the Python SDK, both generations of the
# TypeScript SDK, the Inspector's command line, and the conformance suite with the scenarios in mcp/scenarios.txt.
#
# Needs Python 3 with venv, npm (x86-64 Linux), PyPI and npm's registry. Exits with 77 if one of them is missing or cannot be
# reached. The clients are installed once, under the target directory.
# Usage: CICERONE_API_KEY=… tests/clients/mcp.sh PROGRAM SERVER AGENT FOLDER
# The agent knows when the museum opens; the folder has a file with the name of the lifeboat.
set -euo pipefail
program="$1" server="$2" agent="$3" folder="$4"
cd "$(dirname "$0")/../.."
source tests/packages.sh
name="MCP clients"
checks="$PWD/tests/clients/mcp"
work="${CARGO_TARGET_DIR:-$PWD/target}/mcp-clients"
# Lower this if an entry of the baseline goes.
baseline_entries=7
[ "$(uname -sm)" = "Linux x86_64" ] || skip "npm has this version of Node.js for x86-64 Linux only"
install_packages "$checks"/*.mjs
export PATH="$work/python/bin:$work/node_modules/node/bin:$work/node_modules/.bin:$PATH"
url="$server/mcp/agents/$agent"

python "$checks/python_sdk.py" "$url" "$program" "$server" "$agent" "$folder"
node typescript_sdk.mjs "$url" "$program" "$server" "$agent" "$folder"

inspect() {
  mcp-inspector --cli "$url" --transport http "$@" --header "Authorization: Bearer $CICERONE_API_KEY"
}
inspect --method tools/list --strict >inspector.json 2>inspector.log
if grep -q Warning inspector.log; then
  cat inspector.log
  echo "MCP clients: the Inspector finds the schemas of tools less portable than they could be" >&2
  exit 1
fi
grep -q '"name": "ask"' inspector.json
inspect --method tools/call --tool-name ask --tool-arg 'question=When does the museum open?' >inspector.json
grep -q nine inspector.json
echo "inspector: tools listed and called"

entries="$(grep -c '^  - ' "$checks/baseline.yml" || true)"
if [ "$entries" -gt "$baseline_entries" ]; then
  echo "MCP clients: the baseline has $entries entries, more than $baseline_entries" >&2
  exit 1
fi
KEY="$CICERONE_API_KEY" node with_key.mjs "$url" >proxy.txt &
proxy=$!
trap 'kill "$proxy"' EXIT
until grep -q http proxy.txt; do sleep 0.1; done
while read -r scenario; do
  if ! conformance server --url "$(cat proxy.txt)" --scenario "$scenario" \
    --expected-failures "$checks/baseline.yml" -o results >conformance.log 2>&1; then
    cat conformance.log
    echo "MCP clients: the scenario $scenario has failed" >&2
    exit 1
  fi
  echo "conformance: $scenario"
done <"$checks/scenarios.txt"
echo "MCP clients: all were answered"
