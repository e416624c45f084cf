#!/bin/sh
# Runs one fuzz target on its seeds: `fuzz/run.sh TARGET [SECONDS]`. It ends at the first finding, whose input is kept
# in `fuzz/artifacts/TARGET`; inputs that reached new code are kept in `fuzz/corpus/TARGET`.
#
# It finds panics, overflows, hangs and memory growth, which need no sanitizer. `SANITIZER=address` also finds memory
# errors in libraries, but the build takes several times as long.
set -eu
cd "$(dirname "$0")"
target=$1
seconds=${2:-600}
mkdir -p "corpus/$target"
# The memory limit is higher than that of a child process, because a sanitizer needs memory too. Libraries log a lot in a
# build with assertions, so the output is hidden; to see the message of a finding, run its input again.
exec cargo +nightly fuzz run --sanitizer "${SANITIZER:-none}" --codegen-units 16 "$target" "corpus/$target" "seeds/$target" -- \
    -dict="dictionaries/$target.dict" -max_total_time="$seconds" -max_len=8192 \
    -timeout=20 -rss_limit_mb=4096 -detect_leaks=0 -close_fd_mask=3 -print_final_stats=1
