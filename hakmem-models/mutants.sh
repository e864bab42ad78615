#!/usr/bin/env bash
# Shows that the models can fail: each patch in mutants/ breaks a protocol, and the model that it names must notice.
# Usage: hakmem-models/mutants.sh [NAME...]      (names of patches; all by default)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
copy=$top/target/mutants
export CARGO_TARGET_DIR=$top/target/models-mutants

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for patch_file in "$here"/mutants/*.patch; do
        names+=("$(basename "$patch_file" .patch)")
    done
fi

missed=0
for name in "${names[@]}"; do
    patch_file=$here/mutants/$name.patch
    model=$(sed -n 's/^Model: //p' "$patch_file")
    rm -rf "$copy"
    mkdir -p "$copy/hakmem-core"
    cp -r "$top/hakmem-core/src" "$copy/hakmem-core/src"
    cp -r "$here" "$copy/hakmem-models"
    patch -d "$copy" -p1 --silent <"$patch_file"
    (cd "$copy/hakmem-models" && cargo test --release --quiet --no-run) || {
        echo "mutants: $name does not compile" >&2
        exit 1
    }
    status=0
    (cd "$copy/hakmem-models" && timeout 600 cargo test --release --quiet --test protocols "$model::") >/dev/null 2>&1 || status=$?
    # 101: an assertion or loom itself failed; a signal: it crashed. Neither success nor running out of time will do.
    case $status in
        0 | 124)
            echo "MISSED  $name: the model $model does not notice (status $status)"
            missed=1
            ;;
        *) echo "caught  $name, by $model (status $status)" ;;
    esac
done
exit "$missed"
