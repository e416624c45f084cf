# Installs the Python and npm packages that a script of the tests needs. Sourced by the script, which sets
#   name    what it is called in messages
#   checks  the folder with its `requirements.txt` and `package.json`
#   work    where the packages are installed, once
# and calls `install_packages FILE…` with what else it needs there. Afterwards, $work is the current folder. Exits with 77 if Python, npm
# or one of their registries is missing.

skip() {
  echo "$name: skipped, $1" >&2
  exit 77
}

install_packages() {
  command -v python3 >/dev/null || skip "python3 is not installed"
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p "$work"
  cp "$checks/package.json" "$checks/requirements.txt" "$@" "$work/"
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
}
