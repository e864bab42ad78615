"""Runs benchmark programs on libc and on hakmem, interleaved, every hakmem run proven."""

import json
from dataclasses import dataclass
from statistics import median

from proof import ROOT, run_plain, run_proven

BENCHES = sorted(source.stem for source in (ROOT / "bench-c").glob("*.c"))


def on_system(bench, *arguments):
    """The report of a benchmark on libc."""
    return json.loads(run_plain([ROOT / f"{bench}_system", *arguments, "--json"]))


def on_hakmem(bench, *arguments):
    """The report of a benchmark that is linked with hakmem."""
    return json.loads(run_proven([ROOT / f"{bench}_hakmem", *arguments, "--json"])[0])


@dataclass
class Pair:
    """Medians of one figure, and the median of the ratios of runs that stood side by side."""

    system: float
    hakmem: float
    ratio: float
    difference: float


def pair_up(system, hakmem):
    return Pair(
        median(system),
        median(hakmem),
        median(h / s if s else float("inf") for s, h in zip(system, hakmem)),
        median(h - s for s, h in zip(system, hakmem)),
    )


def interleave(system, hakmem, rounds):
    """Calls the two in turn, the order swapped every round; returns the two lists of results."""
    results = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            results[side].append((system, hakmem)[side]())
    return results


def paired(bench, arguments, figures, rounds):
    """{figure: Pair} of a benchmark's report over some rounds."""
    system, hakmem = interleave(
        lambda: on_system(bench, *arguments), lambda: on_hakmem(bench, *arguments), rounds
    )
    if {report["checksum"] for report in system + hakmem} != {system[0]["checksum"]}:
        raise ValueError(f"{bench}: checksums differ")
    return {
        figure: pair_up([report[figure] for report in system], [report[figure] for report in hakmem])
        for figure in figures
    }
