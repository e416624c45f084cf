#!/usr/bin/env bash
# Generates clients from docs/openapi.json with three public generators and checks that nothing is lost: no
# operation, no warning, no type of an answer. Needs Python 3 with venv, Node.js, PyPI and npm.
#
# Exits with 77 if one of them is missing or cannot be reached. The generators are installed once, under the
# target directory. Usage: tests/generators.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/packages.sh
name="generators"
document="$PWD/docs/openapi.json"
checks="$PWD/tests/generators"
work="${CARGO_TARGET_DIR:-$PWD/target}/generators"
install_packages
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
