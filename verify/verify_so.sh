#!/usr/bin/env bash
# verify_so.sh [LIBRARY [EXPECTED]]: checks the shape of libhakmem.so: the exported names are exactly
# those of EXPECTED, it needs libc only, and it can be preloaded into anything. Every fault is listed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
library=${1:-$here/../target/release/libhakmem.so}
expected=${2:-$here/symbols.expected}
max_tls=64 # bytes; a dlopen of the library has to fit into what ld.so keeps spare

faults=0
fault() {
    printf 'verify_so: %s: %s\n' "$library" "$1" >&2
    faults=$((faults + 1))
}

for file in "$library" "$expected"; do
    if [ ! -f "$file" ]; then
        printf 'verify_so: no such file: %s\n' "$file" >&2
        exit 2
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/actual"
sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$expected" | sort -u >"$work/expected"
while read -r name; do fault "does not export $name"; done < <(comm -13 "$work/actual" "$work/expected")
while read -r name; do fault "exports $name, which is not expected"; done < <(comm -23 "$work/actual" "$work/expected")

readelf -dW "$library" >"$work/dynamic"
while read -r needed; do
    case $needed in
        libc.so.6|ld-linux-x86-64.so.2) ;;
        *) fault "needs $needed" ;;
    esac
done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic")
grep -qE 'BIND_NOW|FLAGS_1.*NOW' "$work/dynamic" || fault "is not bound at load time (-z now)"
! grep -q 'TEXTREL' "$work/dynamic" || fault "has relocations in its code (TEXTREL)"

readelf -lW "$library" >"$work/segments"
grep -q 'GNU_RELRO' "$work/segments" || fault "has no read-only relocations (-z relro)"
! grep -qE 'GNU_STACK.* RWE ' "$work/segments" || fault "asks for an executable stack"
! grep -qE '^ *LOAD.* RWE ' "$work/segments" || fault "has a segment that is writable and executable"
tls=$(($(awk '$1 == "TLS" { print $6 }' "$work/segments")))
[ "$tls" -le "$max_tls" ] || fault "has $tls bytes of static TLS, more than $max_tls"
! nm -D --undefined-only "$library" | grep -q '__tls_get_addr' ||
    fault "calls __tls_get_addr: a thread-local access is not initial-exec"

[ "$faults" -eq 0 ] || exit 1
printf '✓ %s: %d exported names, %d bytes of TLS\n' "${library##*/}" "$(wc -l <"$work/actual")" "$tls"
