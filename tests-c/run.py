#!/usr/bin/env python3
"""Builds and runs the behaviour tests: every case in its own process, in every mode that makes sense for it.

Modes: system (glibc alone: the reference), preload (LD_PRELOAD of libhakmem.so), static (linked with libhakmem.a),
full (the same, without any shared object), dlopen (the library opened at run time, called through its handle).
The helper header proves in each process that the allocator under test is the one the mode names.
"""

import argparse
import concurrent.futures
import pathlib
import re
import sys
import time
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True

from harness import build, needs, rows
from harness.case import MODES, discover
from harness.execute import Result, execute


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode (may be repeated)")
    parser.add_argument("--filter", action="append", default=[], metavar="REGEX",
                        help="only cases whose id matches one of these")
    parser.add_argument("--row", action="append", default=[],
                        help="only cases that cover this row of docs/FIELD-FAILURES.md")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--long", action="store_true", help="the full length of the cases tagged long")
    parser.add_argument("--machine", action="store_true",
                        help="also the cases that change a setting of the whole machine")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument("--repeat", type=int, default=1, help="run each case this many times")
    parser.add_argument("--library", type=pathlib.Path, default=build.LIBRARY,
                        help="the shared library to test; its static form is expected beside it")
    parser.add_argument("--peer", action="store_true", help="--library is another allocator: preload cases only")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="write the results as JUnit XML")
    return parser.parse_args()


def select(chosen):
    modes = ["preload"] if chosen.peer else chosen.mode or MODES
    cases = [case.in_mode(mode) for case in discover() for mode in modes if mode in case.modes]
    if chosen.filter:
        cases = [case for case in cases if any(re.search(pattern, case.id) for pattern in chosen.filter)]
    if chosen.row:
        cases = [case for case in cases if set(case.rows) & set(chosen.row)]
    return cases


def compile_all(cases, jobs):
    """Builds everything; returns the cases that could not be built, with the compiler's words."""
    broken = {}

    def one(work, users):
        try:
            work()
        except build.Failed as error:
            for case in users:
                broken[case] = str(error)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda job: one(*job), build.jobs(cases)))
    return broken


def run_all(cases, chosen):
    """Runs the cases that bear company side by side, then the others one by one; yields results."""
    def start(case):
        return execute(case, chosen.peer, chosen.long)

    together = [case for case in cases if "alone" not in case.tags]
    alone = [case for case in cases if "alone" in case.tags]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        yield from pool.map(start, together)
    yield from map(start, alone)


def write_junit(path, results, unmet):
    suites = xml.Element("testsuites")
    for mode in MODES:
        mine = [result for result in results if result.case.mode == mode]
        suite = xml.SubElement(suites, "testsuite", name=f"tests-c.{mode}", tests=str(len(mine)),
                               failures=str(sum(bool(result.problem) for result in mine)))
        for result in mine:
            case = xml.SubElement(suite, "testcase", classname=f"tests-c.{mode}", name=result.case.name,
                                  time=f"{result.seconds:.3f}")
            if result.problem:
                failure = xml.SubElement(case, "failure", message=result.problem.splitlines()[0])
                failure.text = re.sub(r"[^\x09\x0a\x20-\ud7ff]", "?", f"{result.problem}\n{result.output}")
        for case, reason in unmet:
            if case.mode == mode:
                one = xml.SubElement(suite, "testcase", classname=f"tests-c.{mode}", name=case.name)
                xml.SubElement(one, "skipped", message=reason)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def main():
    chosen = options()
    cases = select(chosen)
    build.LIBRARY = chosen.library.resolve()
    if not build.LIBRARY.exists():
        sys.exit(f"{build.LIBRARY} is missing: build it with `make lib`")
    if not cases:
        sys.exit("no case matches")
    if chosen.list:
        for case in cases:
            print(case.id, ",".join(case.rows))
        return
    unmet = []
    for case in list(cases):
        reason = needs.unmet(case)
        if "machine" in case.tags and not chosen.machine:
            reason = reason or "changes the whole machine: --machine runs it"
        if reason:
            unmet.append((case, reason))
            cases.remove(case)
    astray = rows.problems()
    if astray:
        sys.exit("\n".join(["docs/FIELD-FAILURES.md and the cases disagree:", *astray]))
    started = time.monotonic()
    broken = compile_all(cases, chosen.jobs)
    results = [Result(case, 0, "does not build", text) for case, text in broken.items()]
    runnable = [case for case in cases if case not in broken] * chosen.repeat
    print(f"{len(runnable)} cases, built in {time.monotonic() - started:.0f} s", flush=True)
    for result in run_all(runnable, chosen):
        results.append(result)
        print(f"{'FAIL' if result.problem else 'ok  '} {result.case.id} {result.seconds:.2f} s", flush=True)
    failed = [result for result in results if result.problem]
    for result in failed:
        if result.case not in broken:
            print(f"\n--- {result.case.id}: {result.problem}\n{result.output}")
    for text in sorted(set(broken.values())):
        names = [case.id for case in broken if broken[case] == text]
        print(f"\n--- {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: does not build\n{text}")
    for reason in sorted({reason for _, reason in unmet}):
        names = [case.id for case, why in unmet if why == reason]
        print(f"not possible here: {', '.join(names)}: {reason}")
    if chosen.junit:
        write_junit(chosen.junit, results, unmet)
    print(f"{time.monotonic() - started:.0f} s in all")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
