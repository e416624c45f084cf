#!/usr/bin/env bash
# Generates clients from docs/openapi.json with three public generators and checks that nothing is lost: no
# operation, no warning, no type of an answer. Needs Python 3 with venv, Node.js, PyPI and npm.
#
# Exits with 77 if one of them is missing or cannot be reached. The generators are installed once, under the
# target directory. Usage: tests/generators.sh
set -euo pipefail
cd "$(dirname "$0")/.."
document="$PWD/docs/openapi.json"
checks="$PWD/tests/generators"
work="${CARGO_TARGET_DIR:-$PWD/target}/generators"
mkdir -p "$work"

skip() {
  echo "generators: skipped, $1" >&2
  exit 77
}
command -v python3 >/dev/null || skip "python3 is not installed"
command -v npm >/dev/null || skip "npm is not installed"

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
export PATH="$work/python/bin:$work/node_modules/.bin:$PATH"

echo "openapi-python-client"
rm -rf python-client
openapi-python-client generate --path "$document" --meta none --output-path python-client --fail-on-warning |
  tee python.log
if grep -q -e WARNING -e Unable python.log; then
  echo "generators: openapi-python-client has warned" >&2
  exit 1
fi

echo "openapi-typescript"
openapi-typescript "$document" --output types.ts 2>&1 | tee typescript.log
if grep -qi warn typescript.log; then
  echo "generators: openapi-typescript has warned" >&2
  exit 1
fi

echo "@hey-api/openapi-ts"
rm -rf hey-api
openapi-ts --input "$document" --output hey-api --client @hey-api/client-fetch --silent 2>&1 | tee hey-api.log
if grep -qi warn hey-api.log; then
  echo "generators: @hey-api/openapi-ts has warned" >&2
  exit 1
fi

python3 "$checks/compare.py" "$document" "$work"
cp "$checks/openapi-fetch.ts" "$checks/hey-api.ts" .
tsc --noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler \
  --lib es2022,dom,dom.iterable openapi-fetch.ts hey-api.ts
python3 "$checks/use_client.py" "$work"
echo "generators: three clients are complete"
