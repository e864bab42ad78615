"""What the runner prints and the JUnit file."""

import difflib
from dataclasses import dataclass
from xml.etree import ElementTree

DIFF_LINES = 60


@dataclass
class Result:
    case: object
    failure: str = ""  # empty: passed
    plain_seconds: float = 0.0
    hakmem_seconds: float = 0.0
    processes: int = 0
    blocks: int = 0


def difference(plain, hakmem):
    """The first lines in which two transcripts differ, or an empty string."""
    if plain == hakmem:
        return ""
    lines = list(
        difflib.unified_diff(flatten(plain), flatten(hakmem), "plain", "hakmem", lineterm="", n=2)
    )
    shown = ["    " + line[:300] for line in lines[:DIFF_LINES]]
    if len(lines) > DIFF_LINES:
        shown.append(f"    … {len(lines) - DIFF_LINES} more lines of difference")
    return "\n".join(shown)


def flatten(transcript):
    return [line for label, text in transcript for line in (label, *text.splitlines())]


def describe(result):
    """One line for a pass; for a failure also what differs or what broke."""
    times = f"plain {result.plain_seconds:5.2f} s, hakmem {result.hakmem_seconds:5.2f} s"
    if result.failure:
        return f"FAIL {result.case.name:<14} {times}\n  " + result.failure.replace("\n", "\n  ")
    served = f"{result.processes:3} processes, up to {result.blocks:>9,} blocks in one"
    return f"ok   {result.case.name:<14} {times}, {served}"


def write_junit(path, results, seconds):
    failures = sum(1 for result in results if result.failure)
    suite = ElementTree.Element(
        "testsuite",
        name="real",
        tests=str(len(results)),
        failures=str(failures),
        time=f"{seconds:.3f}",
    )
    for result in results:
        time = f"{result.plain_seconds + result.hakmem_seconds:.3f}"
        node = ElementTree.SubElement(
            suite, "testcase", classname="real", name=result.case.name, time=time
        )
        if result.failure:
            first, _, rest = printable(result.failure).partition("\n")
            ElementTree.SubElement(node, "failure", message=first).text = rest
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def printable(text):
    """XML 1.0 cannot hold most control characters."""
    return "".join(c if c in "\n\t" or c >= " " else f"\\x{ord(c):02x}" for c in text)
