#!/usr/bin/env python3
"""Measures the bars of the first release against libc and says which are met.

usage: bars.py [ROUNDS]   (default 9; pairs of runs per time bar)

Times are medians of the ratios of runs that stood side by side, the order swapped every round.
Every hakmem run has written a proof record that was checked. Exit status 1 if a bar is missed.
"""

import os
import subprocess
import sys
import time
from statistics import median

from measure import interleave, on_hakmem, paired, pair_up
from proof import LIBRARY, ROOT, run_proven, run_plain

MIXED = "bench_random_mixed"
HOT = "bench_tiny_hot"
# (benchmark, arguments, largest ratio of the times)
TIMES = [
    (MIXED, (10_000_000, 100), 0.85),
    (MIXED, (10_000_000, 256), 0.85),
    (MIXED, (10_000_000, 400), 0.85),
    (MIXED, (10_000_000, 20_000), 0.65),
    (MIXED, (10_000_000, 1_000_000), 0.65),
    (HOT, (16, 100, 200_000), 0.65),
    (HOT, (64, 1000, 20_000), 0.65),
]
FAULTS_RATIO, MEMORY_RATIO = 1.25, 1.5
CHURN_KIB, HELLO_KIB, START_MS = 4096, 2048, 1.0
START_ROUNDS = 300


class Table:
    def __init__(self):
        self.missed = 0
        print(f"{'':46}{'libc':>12}{'hakmem':>12}{'measured':>12}{'bar':>10}")

    def row(self, name, unit, system, hakmem, measured, bar):
        met = measured <= bar
        self.missed += not met
        print(
            f"{name + ', ' + unit:46}{system:>12}{hakmem:12.2f}{measured:12.3f}{bar:10.2f}  "
            f"{'✓' if met else '✗ missed'}",
            flush=True,
        )

    def ratio(self, name, unit, pair, bar):
        self.row(name, unit, f"{pair.system:.2f}", pair.hakmem, pair.ratio, bar)

    def difference(self, name, unit, pair, bar):
        self.row(name, unit, f"{pair.system:.2f}", pair.hakmem, pair.difference, bar)


def times(table, rounds):
    for bench, arguments, bar in TIMES:
        pair = paired(bench, arguments, ["ns_per_op"], rounds)["ns_per_op"]
        table.ratio(f"{bench} {' '.join(map(str, arguments))}", "ns", pair, bar)


def small_set(table):
    """Page faults and peak memory of a million cycles over 400 blocks of 16 to 1024 bytes."""
    arguments = (1_000_000, 400, 1, 16, 1024)
    pairs = paired(MIXED, arguments, ["minor_faults", "peak_rss_kib"], 5)
    name = f"{MIXED} 1000000 400 1"
    table.ratio(name, "page faults", pairs["minor_faults"], FAULTS_RATIO)
    table.ratio(name, "peak KiB", pairs["peak_rss_kib"], MEMORY_RATIO)


def thread_churn(table):
    """Resident memory after 10,000 threads, over that before them."""
    reports = [on_hakmem("bench_thread_churn", "--threads=10000") for _ in range(3)]
    start = median(report["rss_start_kib"] for report in reports)
    end = median(report["rss_end_kib"] for report in reports)
    table.row("bench_thread_churn, growth", "KiB", "", end, end - start, CHURN_KIB)


def hello(table):
    """What preloading costs the smallest program."""
    program = ROOT / "build/hello"
    plain = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    preloaded = {**plain, "LD_PRELOAD": str(LIBRARY)}

    def peak(output):
        return int(output.split()[-1])

    memory = interleave(
        lambda: peak(run_plain([program, "memory"], env=plain)),
        lambda: peak(run_proven([program, "memory"], preload=LIBRARY)[0]),
        9,
    )
    table.difference("hello, more peak memory", "KiB", pair_up(*memory), HELLO_KIB)

    def start(env):
        begin = time.perf_counter()
        subprocess.run([program], env=env, stdout=subprocess.DEVNULL, check=True)
        return (time.perf_counter() - begin) * 1000

    # Proven above; the record itself would be part of the time.
    duration = interleave(lambda: start(plain), lambda: start(preloaded), START_ROUNDS)
    table.difference("hello, longer start to end", "ms", pair_up(*duration), START_MS)


def main(arguments):
    if len(arguments) > 1 or not all(word.isdigit() and int(word) > 0 for word in arguments):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    table = Table()
    times(table, int(arguments[0]) if arguments else 9)
    small_set(table)
    thread_churn(table)
    hello(table)
    print(f"{table.missed} bars missed" if table.missed else "all bars met")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
