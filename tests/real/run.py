#!/usr/bin/env python3
"""Runs real programs plain and under LD_PRELOAD=libhakmem.so.

A case passes when both runs give the same output, files and exit codes, and the proof records
show that hakmem served every process: its malloc, free and operator new are bound to the library,
it handed out blocks, and libc's own heap stayed empty. A missing program is a failure.
"""

import argparse
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import groups
import proof
from case import CASES, Failure
from cases import compilers, languages, stores, tools, web  # noqa: F401 (they fill CASES)
from execution import Execution, free_port
from report import Result, describe, difference, write_junit

ROOT = Path(__file__).resolve().parents[2]
# Debian's own programs, as scripts/deps.sh installs them: the same everywhere, whatever else a
# machine puts on its PATH. `--path "$PATH"` tests those instead.
DEBIAN_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def complete(path):
    """Debian keeps the PostgreSQL server off any path, and rustup its compiler behind a proxy."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if shutil.which("rustc"):
        sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True)
        found.append(sysroot.stdout.strip() + "/bin")
    return ":".join([*found, path])



def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--filter", metavar="TEXT", default="", help="only cases whose name contains TEXT")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write a JUnit report")
    parser.add_argument("--jobs", metavar="N", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", action="store_true", help="keep the working directories")
    parser.add_argument("--path", default=DEBIAN_PATH, help="where programs are looked up (default %(default)s)")
    parser.add_argument(
        "--library",
        type=Path,
        default=ROOT / "target/release/libhakmem.so",
        help="the library under test (default target/release/libhakmem.so)",
    )
    return parser.parse_args()


def timed(body, execution):
    start = time.monotonic()
    body(execution)
    return time.monotonic() - start


def run_case(case, base, path, library):
    result = Result(case)
    try:
        missing = [name for name in case.needs if not shutil.which(name, path=path)]
        if missing:
            raise Failure(f"not installed: {', '.join(missing)} (scripts/deps.sh installs Debian's programs)")
        port = free_port()
        plain = Execution(case, base, path, port)
        result.plain_seconds = timed(case.body, plain)
        # The second execution reuses the very same path, which compilers and databases record.
        plain.work.rename(base / "work-plain")
        hakmem = Execution(case, base, path, port, library)
        result.hakmem_seconds = timed(case.body, hakmem)
        changed = difference(plain.transcript, hakmem.transcript)
        if changed:
            raise Failure("output differs\n" + changed)
        result.processes, result.blocks = proof.judge(hakmem)
    except Failure as failure:
        result.failure = str(failure)
    except Exception:  # a fault of the case itself must not end the other cases
        result.failure = "the case itself failed\n" + traceback.format_exc()
    return result


def run_all(cases, scratch, arguments):
    # A private copy: a rebuild during the run changes nothing, and other users can read it.
    library = Path(shutil.copy(arguments.library, scratch / arguments.library.name))
    library.chmod(0o755)

    path = complete(arguments.path)

    def one(case):
        base = scratch / case.name
        base.mkdir()
        result = run_case(case, base, path, library)
        print(describe(result), flush=True)
        if not arguments.keep:
            shutil.rmtree(base, ignore_errors=True)
        return result

    with ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        return list(pool.map(one, cases))


def stop(number, _frame):
    """Ends the programs, so that their cases fail at once, and unwinds the main thread."""
    groups.end_all()
    sys.exit(128 + number)


def main():
    arguments = parse_arguments()
    cases = [case for case in CASES if arguments.filter in case.name]
    if arguments.list:
        for case in cases:
            print(f"{case.name:<14} {case.about}")
        return 0
    if not cases:
        sys.exit(f"run.py: no case's name contains '{arguments.filter}'; --list shows them all")
    if not arguments.library.is_file():
        sys.exit(f"run.py: {arguments.library} does not exist; `make lib` builds it")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)

    start = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="hakmem-real-")).resolve()
    scratch.chmod(0o755)  # cases that give up root must reach it
    try:
        results = run_all(cases, scratch, arguments)
    finally:
        groups.end_all()
        if arguments.keep:
            print(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    if arguments.junit:
        write_junit(arguments.junit, results, time.monotonic() - start)
    failed = sum(1 for result in results if result.failure)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
