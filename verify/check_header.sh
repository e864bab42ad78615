#!/usr/bin/env bash
# check_header.sh: include/hakmem.h is what cbindgen makes of the sources, and a program that
# includes it compiles as C11 and as C++17 without a warning, links and runs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/..
archive=$root/target/release/libhakmem.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo run -q --manifest-path "$root/Cargo.toml" -p hakmem-preload --example header -- --check
for build in "gcc -std=c11 -x c" "g++ -std=c++17 -x c++"; do
    # shellcheck disable=SC2086 # several words on purpose
    $build -Wall -Wextra -Wpedantic -Werror -I "$root/include" -c "$here/header.c" -o "$work/header.o"
    "${build%% *}" -pthread "$work/header.o" "$archive" -o "$work/header"
    "$work/header"
done
printf '✓ include/hakmem.h is up to date and compiles as C11 and C++17\n'
