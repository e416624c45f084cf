#!/bin/sh
# Runs one fuzz target on its seeds: `fuzz/run.sh TARGET [SECONDS]`. A finding ends it, and its input is kept in
# `fuzz/artifacts/TARGET`; what was learnt is kept in `fuzz/corpus/TARGET`.
#
# What is looked for is panics, overflows, hangs and growth, which need no sanitizer; `SANITIZER=address` looks for faults
# of memory in libraries as well, for a build that takes several times as long.
set -eu
cd "$(dirname "$0")"
target=$1
seconds=${2:-600}
mkdir -p "corpus/$target"
# Memory is more than a child process is given: a sanitizer takes some of its own. Libraries talk a lot in a build with
# assertions, so nothing that is said is shown; a finding says what it is when its input is run once more.
exec cargo +nightly fuzz run --sanitizer "${SANITIZER:-none}" --codegen-units 16 "$target" "corpus/$target" "seeds/$target" -- \
    -dict="dictionaries/$target.dict" -max_total_time="$seconds" -max_len=8192 \
    -timeout=20 -rss_limit_mb=4096 -detect_leaks=0 -close_fd_mask=3 -print_final_stats=1
