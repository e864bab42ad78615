"""Judges the proof records that hakmem's processes left: one JSON line for each."""

import json
import os
import shutil

from case import Failure


def judge(execution):
    """Returns how many processes hakmem served and the most blocks in one of them (a forked child
    also counts its parent's), or raises Failure with every fault found."""
    case, library = execution.case, str(execution.library)
    records = read_records(execution.proof)
    faults = [
        f"{os.path.basename(record['exe'])} (pid {record['pid']}): {fault}"
        for record in records
        for fault in faults_of(record, library, case.own_malloc)
    ]
    faults += missing_processes(records, execution.recorded)
    faults += missing_programs(records, case.proves + case.own_malloc, execution.path)
    if faults:
        raise Failure("hakmem: not proven\n" + "\n".join("    " + fault for fault in faults))
    return len(records), max(record["served"]["blocks"] for record in records)


def read_records(path):
    records = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise Failure(f"hakmem: proof record {number} is not JSON ({error}): {line[:200]}") from None
        if not isinstance(record, dict) or record.get("hakmem_proof") != 1:
            raise Failure(f"hakmem: proof record {number} is not of version 1: {line[:200]}")
        records.append(record)
    if not records:
        raise Failure("hakmem: no process left a proof record")
    return records


def faults_of(record, library, own_malloc=()):
    """What the record of one process says against hakmem having served it."""
    if os.path.basename(record["exe"]) in own_malloc:
        if library in (record["bindings"]["malloc"], record["bindings"]["free"]):
            yield "hakmem took the place of the program's own malloc or free"
        return
    if record["library"] != library:
        yield f"served by {record['library']}, not {library}"
    for name in ("malloc", "free", "operator_new"):
        owner = record["bindings"].get(name)
        # A program linked with a C++ runtime of its own keeps that operator new, which calls malloc.
        if owner != library and not (name == "operator_new" and owner == record["exe"]):
            yield f"{name} is bound to {owner or 'nothing'}"
    if record["served"]["blocks"] <= 0 or record["served"]["bytes"] <= 0:
        yield f"served {record['served']['blocks']} blocks, {record['served']['bytes']} bytes"
    if record["libc_heap_bytes"] != 0:
        yield f"libc's own heap holds {record['libc_heap_bytes']} bytes"


def missing_processes(records, started):
    recorded = {record["pid"] for record in records}
    for pid, command in started:
        if pid not in recorded:
            yield f"pid {pid} left no proof record: {command}"


def missing_programs(records, expected, path):
    seen = {os.path.basename(record["exe"]) for record in records}
    for program in expected:
        # as is x86_64-linux-gnu-as, redis-server is redis-check-rdb, python3 is python3.11.
        real = os.path.basename(os.path.realpath(shutil.which(program, path=path) or program))
        if not any(name == real or name.startswith(program) for name in seen):
            yield f"{program} left no proof record (seen: {', '.join(sorted(seen))})"
