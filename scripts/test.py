#!/usr/bin/env python3
"""Runs every test of the project and sums up what passed and failed.

usage: test.py [TARGET...]

Each step is a target of the Makefile and can be run alone. A step that ends with a line such as
"12 passed, 1 failed" counts for that many, any other for one.
"""

import re
import subprocess
import sys
import time

# Cheap and local first, whole programs last.
STEPS = [
    "fmt",
    "clippy",
    "check-shell",
    "unit",
    "models",
    "lib",
    "check-header",
    "verify-so",
    "benches",
    "verify-negative",
    "verify-benches",
    "check-install",
    "test-c",
    "test-real",
]
PASSED = re.compile(r"\b(\d+) passed\b")
FAILED = re.compile(r"\b(\d+) failed\b")


def figure(pattern, line):
    found = pattern.search(line)
    return int(found[1]) if found else 0


def summary(lines):
    """(passed, failed) of the last line that gives such a sum, or None; cargo gives one per program."""
    sums = [line for line in lines if PASSED.search(line)]
    chosen = [line for line in sums if line.startswith("test result:")] or sums[-1:]
    if not chosen:
        return None
    return sum(figure(PASSED, line) for line in chosen), sum(figure(FAILED, line) for line in chosen)


def run(step):
    """Runs a target, its output shown as it comes; returns (passed, failed)."""
    process = subprocess.Popen(
        ["make", step], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    broken = process.wait() != 0
    passed, failed = summary(lines) or (int(not broken), int(broken))
    # A runner that fails without a failed test has broken down itself.
    return passed, failed or int(broken)


def main(steps):
    results = []
    for step in steps or STEPS:
        print(f"\n=== make {step}", flush=True)
        begin = time.monotonic()
        results.append((step, *run(step), time.monotonic() - begin))
    print()
    for step, passed, failed, seconds in results:
        print(f"{'✗' if failed else '✓'} {step:<18} {passed:5} passed {failed:5} failed {seconds:7.1f} s")
    failed = sum(result[2] for result in results)
    print(f"{sum(result[1] for result in results)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
