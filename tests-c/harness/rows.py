"""Keeps docs/FIELD-FAILURES.md honest: its tests exist, and every row that a case claims names that case."""

import re

from .case import ROOT, discover

TABLE = ROOT / "docs" / "FIELD-FAILURES.md"
ROW = re.compile(r"^\| ([A-Z]\d\d) \|")
TEST = re.compile(r"`((?:contract|interpose|fork|thread|limits|memory|misuse|signal)/\w+)`")


def problems():
    """One line for each disagreement between the table and the cases."""
    claimed = {}
    for case in discover():
        name = case.name.split(":")[0]
        for row in case.rows:
            claimed.setdefault(row, set()).add(name)
    existing = {case.name.split(":")[0] for case in discover()}
    table = TABLE.read_text().splitlines()
    listed = {match[1]: set(TEST.findall(line)) for line in table if (match := ROW.match(line))}
    found = [f"{row} names {name}, which does not exist" for row, names in listed.items() for name in names - existing]
    found += [f"{name} claims row {row}, which does not name it" for row, names in claimed.items()
              for name in sorted(names - listed.get(row, set()))]
    found += [f"{row} names {name}, which does not claim it" for row, names in listed.items()
              for name in sorted((names & existing) - claimed.get(row, set()))]
    return sorted(found)
