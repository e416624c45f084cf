#!/usr/bin/env bash
# Property tests of the served contract with schemathesis (PyPI), against a server of its own on loopback.
# Needs Python 3 with venv, and PyPI. Usage: [CICERONE=BINARY] tests/schemathesis.sh [MAX_EXAMPLES]
# Without CICERONE, it builds the program with `--release` and tests that.
set -euo pipefail
cd "$(dirname "$0")/.."
examples="${1:-50}"
work="$(mktemp -d)"
key="schemathesis-root-key-0123456789abcdef"
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

if [ -z "${CICERONE:-}" ]; then
  cargo build --quiet --release --package cicerone-server
  CICERONE="${CARGO_TARGET_DIR:-target}/release/cicerone"
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet schemathesis

# All requests of visitors come from one address.
printf '[http]\npublic_requests_per_minute = 1000000\n' >"$work/cicerone.toml"
CICERONE_CONFIG="$work/cicerone.toml" CICERONE_BIND=127.0.0.1:0 CICERONE_DATA_DIR="$work/data" \
  CICERONE_ROOT_KEY="$key" CICERONE_RATE_LIMIT_PER_MINUTE=0 CICERONE_EGRESS_ALLOW=127.9.9.9/32 \
  "$CICERONE" serve >"$work/out" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
  address="$(sed -n 's|^cicerone is listening on \(http://[^ ]*\).*|\1|p' "$work/out" | head -n 1)"
  [ -n "$address" ] && break
  sleep 0.1
done

# tests/schemathesis handles what a schema cannot express: cursors, used idempotency keys, the content of texts.
export PYTHONPATH="$PWD/tests/schemathesis" SCHEMATHESIS_HOOKS=hooks PYTHONDONTWRITEBYTECODE=1
(cd "$work" && venv/bin/schemathesis --config-file "$PYTHONPATH/schemathesis.toml" run "$address/v1/openapi.json" \
  --header "Authorization: Bearer $key" --checks all --max-examples "$examples" --continue-on-failure)
if grep -c '"level":"ERROR"' "$work/log"; then
  echo "the server logged errors:" && grep '"level":"ERROR"' "$work/log" | head -n 20
  exit 1
fi
