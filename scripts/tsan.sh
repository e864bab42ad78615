#!/usr/bin/env bash
# Runs the tests in which threads run at once under ThreadSanitizer. Needs a nightly Rust with the component rust-src.
# Usage: scripts/tsan.sh [PROGRAMS]      (programs of the fuzz test; 10 by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

programs=${1:-10}
target=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=thread --cfg tsan"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tsan
# The sanitized standard library unwinds.
export CARGO_PROFILE_DEV_PANIC=unwind CARGO_PROFILE_DEV_OPT_LEVEL=1
export TSAN_OPTIONS="halt_on_error=1 history_size=7 suppressions=$PWD/scripts/tsan.supp"

run() {
    cargo +nightly test --quiet -Zbuild-std --target "$target" -p hakmem-core "$@"
}

run --test model
# Every fourth program has threads that run at once.
for ((seed = 3; seed < 4 * programs; seed += 4)); do
    HAKMEM_FUZZ_ONE=$seed run --test fuzz random_programs
done
echo "ThreadSanitizer found nothing in the model test and $programs programs"
