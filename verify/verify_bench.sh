#!/usr/bin/env bash
# verify_bench.sh BINARY [ARCHIVE]: proves that a benchmark is linked with hakmem and runs on it.
# Exit status 0 if so; otherwise 1, and a line that says what is wrong.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    printf 'usage: verify_bench.sh BINARY [ARCHIVE]\n' >&2
    exit 2
fi
binary=$1
[[ $binary == */* ]] || binary=./$binary # it will be run, and not from the PATH
archive=${2:-$here/../target/release/libhakmem.a}

fail() {
    printf 'verify_bench: %s: %s\n' "$binary" "$1" >&2
    exit 1
}

[ -x "$binary" ] || fail "no such program"
[ -f "$archive" ] || fail "no archive $archive to compare with"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Symbols: the library is inside, and the whole core set is its own.
nm --defined-only "$binary" >"$work/symbols" 2>/dev/null
[ -s "$work/symbols" ] || fail "the symbol table is stripped: nothing can be verified"
for name in hak_tiny_alloc hak_tiny_alloc_superslab; do
    grep -q " T $name\$" "$work/symbols" ||
        fail "$name is missing: libhakmem.a is not in the binary (left out of the link line, or placed before the object that needs it)"
done
for name in malloc free calloc realloc; do
    grep -q " T $name\$" "$work/symbols" ||
        fail "$name is not a global symbol of the binary: libc's would be used"
done

# Size: at least the code of the archive member that holds the allocator.
code_size() { # of the ELF file or archive member whose `size -A` report is read
    awk '/^\.text/ { sum += $2 } END { print sum + 0 }'
}
nm --defined-only "$archive" >"$work/archive" 2>/dev/null
member=$(awk '/:$/ { name = substr($0, 1, length($0) - 1) }
    $3 == "hak_tiny_alloc" { print name; exit }' "$work/archive")
[ -n "$member" ] || fail "$archive does not define hak_tiny_alloc"
ar p "$archive" "$member" >"$work/member.o"
expected=$(size -A "$work/member.o" | code_size)
actual=$(size -A "$binary" | code_size)
[ "$actual" -ge "$expected" ] ||
    fail "only $actual bytes of code, the library alone has $expected: hakmem is not in the binary"

# Libraries: it differs from the plain program by nothing that is loaded.
ldd "$binary" >"$work/ldd" 2>/dev/null || fail "statically linked with libc, unlike the plain program"
while read -r library _; do
    case ${library##*/} in
        linux-vdso.so.*|ld-linux-*.so.*|libc.so.*|libm.so.*|libgcc_s.so.*) ;;
        *) fail "loads $library" ;;
    esac
done <"$work/ldd"

# A run: libc's own calls of malloc and free reach the binary, and hakmem hands out blocks.
proof=$work/proof
env -u LD_PRELOAD LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bindings" \
    HAKMEM_PROOF="$proof" "$binary" --quick >/dev/null || fail "a run with --quick fails"
for name in malloc free; do
    bound=$(sed -n "s/.*binding file .*libc\.so\.6 \[0\] to \(.*\) \[0\]: normal symbol \`$name'.*/\1/p" \
        "$work"/bindings.* | head -n 1)
    [ "$bound" = "$binary" ] || fail "libc's own calls of $name go to ${bound:-an unknown place}"
done
[ -s "$proof" ] || fail "a run writes no proof record: hakmem was not started"
[[ $(cat "$proof") =~ \"served\":\{\"blocks\":([0-9]+) ]] || fail "the proof record is malformed"
[ "${BASH_REMATCH[1]}" -gt 0 ] || fail "hakmem served no block: the program has a malloc of its own"
