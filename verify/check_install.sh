#!/usr/bin/env bash
# check_install.sh: what `make install` puts into a staging place is enough for pkg-config and gcc to
# build a program against the shared library and against the archive.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s -C "$here/.." install DESTDIR="$work/stage" PREFIX=/opt/hakmem >/dev/null
export PKG_CONFIG_PATH=$work/stage/opt/hakmem/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/stage
read -ra cflags < <(pkg-config --cflags hakmem)
read -ra shared < <(pkg-config --libs hakmem)
lib=$work/stage/opt/hakmem/lib
gcc "${cflags[@]}" "$here/header.c" "${shared[@]}" -o "$work/shared"
gcc "${cflags[@]}" "$here/header.c" "$lib/libhakmem.a" -pthread -o "$work/static"
LD_LIBRARY_PATH=$lib "$work/shared"
"$work/static"
printf '✓ make install gives a usable library %s\n' "$(pkg-config --modversion hakmem)"
