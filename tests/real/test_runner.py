#!/usr/bin/env python3
"""Tests of the runner itself: each way in which hakmem can fail a program must fail its case."""

import copy
import json
import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path

import proof
import report
import run
from case import Case, Failure
from execution import Execution, free_port

LIBRARY = "/somewhere/libhakmem.so"
GOOD = {
    "hakmem_proof": 1,
    "pid": 7,
    "exe": "/usr/bin/perl",
    "library": LIBRARY,
    "bindings": {"malloc": LIBRARY, "free": LIBRARY, "operator_new": LIBRARY},
    "served": {"blocks": 10, "bytes": 1000, "exact": False},
    "libc_heap_bytes": 0,
}


def altered(**changes):
    return {**copy.deepcopy(GOOD), **changes}


class Judging(unittest.TestCase):
    def faults(self, record):
        return list(proof.faults_of(record, LIBRARY))

    def test_a_good_record_has_no_fault(self):
        self.assertEqual(self.faults(GOOD), [])

    def test_a_name_bound_elsewhere(self):
        bindings = {**GOOD["bindings"], "free": "/lib/libc.so.6"}
        self.assertEqual(self.faults(altered(bindings=bindings)), ["free is bound to /lib/libc.so.6"])

    def test_operator_new_may_be_the_programs_own(self):
        for owner, faults in (("/usr/bin/perl", 0), ("/lib/libstdc++.so.6", 1)):
            bindings = {**GOOD["bindings"], "operator_new": owner}
            self.assertEqual(len(self.faults(altered(bindings=bindings))), faults)

    def test_another_library(self):
        self.assertEqual(len(self.faults(altered(library="/usr/lib/libhakmem.so"))), 1)

    def test_no_binding_and_no_block(self):
        served = {"blocks": 0, "bytes": 0}
        self.assertEqual(
            self.faults(altered(bindings={})),
            [f"{name} is bound to nothing" for name in ("malloc", "free", "operator_new")],
        )
        self.assertEqual(self.faults(altered(served=served)), ["served 0 blocks, 0 bytes"])

    def test_a_used_libc_heap(self):
        self.assertEqual(
            self.faults(altered(libc_heap_bytes=135168)), ["libc's own heap holds 135168 bytes"]
        )

    def test_a_program_that_brings_its_own_malloc_keeps_it(self):
        own = {"malloc": "/usr/bin/perl", "free": "/usr/bin/perl"}
        self.assertEqual(list(proof.faults_of(altered(bindings=own), LIBRARY, ("perl",))), [])
        self.assertEqual(
            list(proof.faults_of(GOOD, LIBRARY, ("perl",))),
            ["hakmem took the place of the program's own malloc or free"],
        )

    def test_processes_and_programs_without_a_record(self):
        started = [(7, "perl x"), (8, "perl y")]
        self.assertEqual(
            list(proof.missing_processes([GOOD], started)), ["pid 8 left no proof record: perl y"]
        )
        self.assertEqual(list(proof.missing_programs([GOOD], ["perl"], "/usr/bin")), [])
        self.assertEqual(
            list(proof.missing_programs([GOOD], ["nosuch"], "/usr/bin")),
            ["nosuch left no proof record (seen: perl)"],
        )

    def test_a_broken_record(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "proof")
            for text in ("", '{"hakmem_proof": 2}\n', json.dumps(GOOD)[:50]):
                path.write_text(text)
                with self.assertRaises(Failure):
                    proof.read_records(path)


class Running(unittest.TestCase):
    def setUp(self):
        self.base = Path(tempfile.mkdtemp(prefix="hakmem-runner-"))
        self.addCleanup(shutil.rmtree, self.base)

    def case(self, body, needs=("sh",), timeout=20):
        return Case("made-up", "", body, needs, (), timeout, None)

    def result(self, body, **options):
        return run.run_case(self.case(body, **options), self.base, run.DEBIAN_PATH, "/nonexistent.so")

    def plain(self, body, **options):
        case = self.case(body, **options)
        execution = Execution(case, self.base, run.DEBIAN_PATH, free_port())
        body(execution)
        return execution

    def test_a_missing_program_fails(self):
        result = self.result(lambda execution: None, needs=("sh", "no-such-program"))
        self.assertIn("not installed: no-such-program", result.failure)

    def test_a_crash_names_the_signal_and_shows_standard_error(self):
        with self.assertRaisesRegex(Failure, "killed by SIGSEGV(.|\n)*about to crash"):
            self.plain(lambda execution: execution.command("sh", "-c", "echo about to crash >&2; kill -SEGV $$"))

    def test_an_unexpected_exit_code_fails(self):
        with self.assertRaisesRegex(Failure, "exit code 3"):
            self.plain(lambda execution: execution.command("sh", "-c", "exit 3"))

    def test_a_hang_is_ended_with_its_children(self):
        def body(execution):
            execution.command("sh", "-c", "sleep 1000 & echo $! > child; wait")

        with self.assertRaisesRegex(Failure, "did not end in time"):
            self.plain(body, timeout=0.5)
        child = Path("/proc", (self.base / "work/child").read_text().strip())
        for _ in range(100):  # a killed orphan is gone, or a zombie until somebody waits for it
            if not child.exists() or ") Z " in (child / "stat").read_text():
                return
            time.sleep(0.02)
        self.fail("the child still runs")

    def test_differing_output_fails_and_is_shown(self):
        def body(execution):
            execution.note("answer", "same\n" + ("forty-two" if execution.library else "42"))

        self.assertIn("-42\n", self.result(body).failure)
        self.assertIn("+forty-two", self.result(body).failure)

    def test_a_run_without_any_record_fails(self):
        self.assertEqual(
            self.result(lambda execution: None).failure, "hakmem: no process left a proof record"
        )

    def test_a_fault_in_a_case_is_a_failure(self):
        self.assertIn("ZeroDivisionError", self.result(lambda execution: 1 / 0).failure)

    def test_a_heap_that_is_there_is_seen(self):
        def body(execution):
            gate = execution.work / "gate"
            os.mkfifo(gate)
            with execution.background(
                "sh", "-c", "echo up; read x < gate", ready=lambda p: "up" in p.out.read_text()
            ) as shell:
                execution.library = "/nonexistent.so"
                try:
                    execution.observe(shell)
                finally:
                    gate.write_text("\n")

        with self.assertRaisesRegex(Failure, "libc served blocks"):
            self.plain(body)


class Reporting(unittest.TestCase):
    def test_equal_transcripts_do_not_differ(self):
        self.assertEqual(report.difference([("a", "b\n")], [("a", "b\n")]), "")

    def test_junit_holds_counts_and_control_characters(self):
        case = Case("made-up", "", None, (), (), 1, None)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "junit.xml")
            report.write_junit(path, [report.Result(case), report.Result(case, "broke\n\x1b[1m")], 1.5)
            root = report.ElementTree.parse(path).getroot()
        self.assertEqual((root.get("tests"), root.get("failures")), ("2", "1"))
        self.assertEqual(root.find("testcase/failure").get("message"), "broke")
        self.assertEqual(root.find("testcase/failure").text, "\\x1b[1m")


if __name__ == "__main__":
    unittest.main()
