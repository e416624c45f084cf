# Installs the clients of this repository, for scripts that source this: `$work/python` has the Python client and
# mypy, `$work/node` the packed TypeScript client and tsc. Exits with 77 if a tool or a registry is missing.
# The caller is in the root of the repository.
root="$PWD"
work="${CARGO_TARGET_DIR:-$root/target}/own-clients"
mkdir -p "$work"

skip() {
  echo "own clients: skipped, $1" >&2
  exit 77
}
for tool in python3 node npm curl flock; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"

install_python() {
  cp "$root/tests/clients/own/requirements.txt" "$work/"
  cd "$work"
  if ! cmp -s requirements.txt installed-requirements.txt; then
    rm -rf python && python3 -m venv python || skip "python3 has no venv"
    python/bin/pip install --quiet --disable-pip-version-check --timeout 15 --retries 1 -r requirements.txt ||
      skip "PyPI is not reached"
    cp requirements.txt installed-requirements.txt
  fi
  # As `pip install ./clients/python` does, but without asking PyPI again.
  python/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index \
    --force-reinstall "$root/clients/python"
}

install_node() {
  local package="$root/clients/typescript" own="$root/tests/clients/own"
  mkdir -p "$work/node" "$work/package"
  cp "$package/package.json" "$package/package-lock.json" "$package/tsconfig.json" "$package/README.md" "$work/package/"
  cp "$own/package.json" "$own"/*.mjs "$work/node/"
  cd "$work"
  if ! cat package/package-lock.json node/package.json | cmp -s - installed-packages; then
    local options=(--silent --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=15000)
    (cd package && npm ci "${options[@]}") || skip "npm is not reached"
    (cd node && rm -rf node_modules && npm install --no-package-lock "${options[@]}") || skip "npm is not reached"
    cat package/package-lock.json node/package.json >installed-packages
  fi
  # As `npm install` of the packed client does, but without asking npm again: it has no dependencies.
  cd package
  rm -rf src dist && cp -r "$package/src" .
  npm pack --silent --pack-destination "$work" >/dev/null
  local place="$work/node/node_modules/cicerone-client"
  rm -rf "$place" && mkdir "$place"
  tar -xzf "$work"/cicerone-client-*.tgz -C "$place" --strip-components=1
}

# Tests may run this at the same time.
exec 9>"$work/lock"
flock 9
if [ "$(cat "$work/installed" 2>/dev/null)" != "${RUN_ID:-}" ] || [ -z "${RUN_ID:-}" ]; then
  install_python
  install_node
  echo "${RUN_ID:-}" >"$work/installed"
fi
exec 9>&-
cd "$work"
# A proxy of the environment is for other hosts.
export NO_PROXY="*" no_proxy="*"
export PATH="$work/python/bin:$work/package/node_modules/.bin:$PATH"
