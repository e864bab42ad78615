#!/usr/bin/env bash
# The library holds no instruction beyond the x86-64 baseline: it runs on every 64-bit x86 processor.
#@ modes=preload rows=O07
set -euo pipefail

listing=$(objdump -d --no-show-raw-insn "$TEST_LIBRARY")
lines=$(grep -c '^ ' <<<"$listing")
[ "$lines" -gt 5000 ] || { echo "only $lines instructions found" >&2; exit 1; }
# ymm and zmm are AVX and later; the mnemonics are SSE3 to SSE4.2, BMI, ADX, MOVBE, CRC32, POPCNT. Not tzcnt: it is
# `rep bsf` to older processors, which compilers use where both give the same.
beyond=$(grep -E '%[yz]mm[0-9]|%k[1-7]|\s(v[a-z]+|popcnt|lzcnt|andn|bextr|blsi|blsr|blsmsk|bzhi|pdep|pext|rorx|sarx|shlx|shrx|mulx|adcx|adox|movbe|crc32[a-z]*|pshufb|palign[a-z]|pblend[a-z]*|ptest|pcmp[ei]str[im]|phadd[a-z]*|lddqu|movddup)\s' <<<"$listing" || true)
[ -z "$beyond" ] || { echo "instructions beyond the baseline:" >&2; head -20 <<<"$beyond" >&2; exit 1; }
echo "$lines instructions, all baseline"
