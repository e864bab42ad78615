#!/usr/bin/env python3
"""Runs all benchmark programs.

usage: benches.py check              each computes the same on libc, linked with hakmem, and under preload
       benches.py compare [ROUNDS]   each at full length, hakmem beside libc (default 3 rounds)
"""

import json
import sys

from measure import BENCHES, on_hakmem, on_system, paired
from proof import LIBRARY, ROOT, Unproven, run_proven


def on_preload(bench, *arguments):
    """The report of the plain benchmark with hakmem preloaded."""
    command = [ROOT / f"{bench}_system", *arguments, "--json"]
    return json.loads(run_proven(command, preload=LIBRARY)[0])


def work_of(report):
    """The part of a report that may not depend on the allocator."""
    return {key: report[key] for key in ("params", "operations", "checksum")}


def check():
    passed = failed = 0
    for bench in BENCHES:
        expected = work_of(on_system(bench, "--quick"))
        for way, run in (("static", on_hakmem), ("preload", on_preload)):
            try:
                actual = work_of(run(bench, "--quick"))
                fault = "" if actual == expected else f"{actual}, but {expected} on libc"
            except Unproven as error:
                fault = str(error)
            passed, failed = passed + (not fault), failed + bool(fault)
            print(f"{'FAIL' if fault else 'ok  '} {bench} {way} {fault}".rstrip(), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def compare(rounds):
    print(f"Medians of {rounds} interleaved runs; every hakmem run is proven by its own record.")
    print(f"{'':26}{'ns per operation':^30}{'peak KiB':^20}{'page faults':^20}")
    columns = ("libc", "hakmem", "ratio", "libc", "hakmem", "libc", "hakmem")
    print(f"{'':26}" + "".join(f"{name:>10}" for name in columns))
    for bench in BENCHES:
        result = paired(bench, (), ("ns_per_op", "peak_rss_kib", "minor_faults"), rounds)
        time, memory, faults = result["ns_per_op"], result["peak_rss_kib"], result["minor_faults"]
        print(
            f"{bench:<26}{time.system:10.2f}{time.hakmem:10.2f}{time.ratio:10.2f}"
            f"{memory.system:10.0f}{memory.hakmem:10.0f}{faults.system:10.0f}{faults.hakmem:10.0f}",
            flush=True,
        )
    return 0


def main(arguments):
    if arguments == ["check"]:
        return check()
    if arguments[:1] == ["compare"] and len(arguments) <= 2:
        rounds = arguments[1] if len(arguments) == 2 else "3"
        if rounds.isdigit() and int(rounds) > 0:
            return compare(int(rounds))
    print(__doc__.split("\n\n")[1], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
