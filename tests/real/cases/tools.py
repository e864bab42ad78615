"""Shells and the tools of everyday pipelines."""

from case import case
from execution import PROGRAMS, printed

# Deterministic lines of a number, a word and a filler, one for each count.
LINES = (
    'BEGIN { s = 42; for (i = 0; i < %d; i++) { s = (s * 16807) %% 2147483647;'
    ' printf "%%010d w%%d %%s\\n", s, s %% 5003, substr("abcdefghijklmnopqrstuvwxyz", 1, s %% 26) } }'
)


@case("bash", needs=["bash", "sort", "rev", "seq"], proves=["bash", "sort", "wc", "rev"])
def bash(run):
    """bash: arrays, subshells, pipes, here-documents, a coprocess, child programs"""
    run.command("bash", PROGRAMS / "work.sh")


@case("dash", needs=["dash", "seq", "mkfifo"], proves=["seq"])
def dash(run):
    """dash ends by _exit and leaves no record: proven by its memory map while it waits"""
    run.command("mkfifo", "gate")
    script = "x=; for i in $(seq 2000); do x=$x$i; done; echo ${#x}; read line < gate; echo $line"
    with run.background("dash", "-c", script, ready=printed("6893"), leaves_record=False) as shell:
        run.observe(shell)
        (run.work / "gate").write_text("opened\n")
    run.note("dash", shell.out.read_text())


@case("awk", needs=["mawk", "gawk"], proves=["mawk", "gawk"])
def awk(run):
    """mawk and gawk: associative arrays, substitution, split and printf over 100,000 records"""
    program = (
        "{ n[$2]++; t[$2] = t[$2] substr($3, 1, 3); gsub(/[aeiou]/, \"<&>\"); k += split($0, p, /[<> ]/) }"
        " END { for (w in n) { c += n[w] * length(t[w]) } print NR, k, c }"
    )
    for name in ("mawk", "gawk"):
        lines = run.command(name, LINES % 100_000)
        run.command(name, program, stdin=lines)


@case("sort", needs=["sort", "mawk", "sha256sum"], proves=["sort"], timeout=90)
def sort(run):
    """sort -S: 1,000,000 lines in memory on two threads, then merged from temporary files"""
    lines = run.command("mawk", LINES % 1_000_000)
    for flags in (["-S", "200M", "--parallel=2"], ["-S", "4M", "-k2,2", "-k1,1n"], ["-S", "30%", "-u", "-k3"]):
        run.command("sort", *flags, "-T", ".", "-o", "sorted", lines)
        run.digest("sorted")


@case("tar-xz", needs=["bash", "tar", "xz"], proves=["tar", "xz"], timeout=90)
def tar_xz(run):
    """tar | xz -T2: a tree of 300 files to an archive and back"""
    for number in range(300):
        path = run.work / "tree" / f"d{number % 17}" / f"file{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(b"%d:%d\n" % (number, i * i * number) for i in range(1200)))
    pack = "set -o pipefail; tar -c --sort=name --mtime=@0 --owner=0 --group=0 tree"
    run.command("bash", "-c", f"{pack} | xz -T2 -3 --block-size=2MiB > tree.tar.xz")
    run.digest("tree.tar.xz")
    run.command("bash", "-c", "set -o pipefail; mkdir back; xz -dc -T2 tree.tar.xz | tar -x -C back")
    run.command("diff", "-r", "tree", "back/tree")


@case("zstd", needs=["zstd", "mawk"], proves=["zstd"])
def zstd(run):
    """zstd: levels 3 to 19 on two threads, a trained dictionary, and back"""
    lines = run.command("mawk", LINES % 100_000)
    for level in (3, 12, 19):
        run.command("zstd", "-q", "-T2", f"-{level}", lines, "-o", f"lines.{level}.zst")
        run.digest(f"lines.{level}.zst")
        run.command("zstd", "-q", "-d", f"lines.{level}.zst", "-o", f"lines.{level}")
        run.command("cmp", lines, f"lines.{level}")
    run.command("zstd", "-q", "--train", "-B1024", lines, "-o", "dictionary")
    run.digest("dictionary")


@case("jq", needs=["jq"], proves=["jq"])
def jq(run):
    """jq: builds, groups, sorts and prints a document of 40,000 objects"""
    make = "[range(40000) | {id: ., name: \"n\\(. * 7919 % 10007)\", tags: [range(. % 7)]}]"
    document = run.command("jq", "-n", "-c", make)
    query = "group_by(.name) | map({key: .[0].name, value: {n: length, t: (map(.tags | add // 0) | add)}})"
    run.command("jq", "-S", f"{query} | from_entries", document)
    run.command("jq", "[.[] | select(.id % 100 == 3) | .name | ascii_upcase | explode | add] | add", document)
