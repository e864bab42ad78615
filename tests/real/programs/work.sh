#!/usr/bin/env bash
# Arrays, expansions, subshells, pipes, here-documents and a coprocess; prints counts and checksums.
set -euo pipefail

declare -A words
state=42
for ((i = 0; i < 40000; i++)); do
    ((state = (state * 1103515245 + 12345) & 0x7fffffff))
    key="w$((state >> 8 & 4095))"
    words[$key]="${words[$key]-}${state},"
done
echo "keys: ${#words[@]}"

longest=""
for key in "${!words[@]}"; do
    ((${#words[$key]} <= ${#longest})) || longest=${words[$key]}
done
echo "longest: ${#longest} ${longest//[13579]/}"

for key in "${!words[@]}"; do printf '%s %s\n' "$key" "${words[$key]}"; done | sort | cksum

list=()
while IFS= read -r line; do list+=("$line"); done < <(seq 1 20000)
echo "list: ${#list[@]}, ${list[*]:100:5}, joined ${#list[*]}"

total=0
for number in {1..60}; do
    ((total += $(printf '%s\n' "${list[@]:number:20}" | wc -l)))
done
echo "subshells: $total"

coproc reverse { while read -r word; do rev <<< "$word"; done; }
for word in malloc hakmem calloc; do
    echo "$word" >&"${reverse[1]}"
    read -r answer <&"${reverse[0]}"
    echo "coprocess: $answer"
done
eval "exec ${reverse[1]}>&-"
wait

cat << END
here-document: $(for number in 1 2 3; do (echo -n "$number "; exit "$number") || echo -n "exit $? "; done)
END

text=""
for ((i = 0; i < 2000; i++)); do text+="line $i "; done
[[ $text =~ (line\ 19[0-9]+\ )+ ]] && echo "regular expression: ${#BASH_REMATCH[0]}"
printf '%s' "$text" | while read -r -n 500 part; do echo "${#part}"; done | sort | uniq -c | sort -rn | head -n 1
