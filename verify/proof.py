"""Proof records: reading them, judging them, and running programs that have to write one.

A process on hakmem appends one line of JSON to the file named by HAKMEM_PROOF when it exits.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "target/release/libhakmem.so"


class Unproven(Exception):
    """A program was not served by hakmem; the message says why."""


def read(path):
    """The records of a proof file, oldest first."""
    records = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise Unproven(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(record, dict) or record.get("hakmem_proof") != 1:
            raise Unproven(f"{path}:{number}: not a proof record")
        records.append(record)
    return records


def same_file(a, b):
    try:
        return os.path.samefile(a, b)
    except OSError:
        return str(a) == str(b)


def judge(record, library=None):
    """Why the process of this record was not served by hakmem; an empty list if it was.

    `library` is the file that should have served it; None accepts any, a static link included.
    """
    reasons = []
    served_by = record["library"]
    if library and not same_file(served_by, library):
        reasons.append(f"served by {served_by}, not by {library}")
    for name in ("malloc", "free"):
        bound = record["bindings"].get(name)
        if not bound or not same_file(bound, served_by):
            reasons.append(f"{name} is bound to {bound or 'nothing'}")
    if record["served"]["blocks"] == 0:
        reasons.append("hakmem handed out no block")
    heap = record["libc_heap_bytes"]
    if heap:
        reasons.append(f"libc's own heap is not empty: {heap} bytes")
    return reasons


def preload_environment(library, proof_file):
    return {**os.environ, "LD_PRELOAD": str(library), "HAKMEM_PROOF": str(proof_file)}


def run_proven(argv, preload=None, **options):
    """Runs a program that must be served by hakmem, linked with it or with `preload` preloaded.

    Returns (output, record); raises Unproven if it fails or was not served.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "proof"
        env = {**os.environ, "HAKMEM_PROOF": str(file)}
        if preload:
            env = preload_environment(preload, file)
        output = run_plain(argv, env=env, **options)
        records = read(file) if file.exists() else []
    if not records:
        raise Unproven(f"{argv[0]}: no proof record")
    reasons = judge(records[-1], preload or argv[0])
    if reasons:
        raise Unproven(f"{argv[0]}: {'; '.join(reasons)}")
    return output, records[-1]


def run_plain(argv, env=None, timeout=600):
    done = subprocess.run(
        [str(arg) for arg in argv], env=env, timeout=timeout, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise Unproven(f"{argv[0]}: exit status {done.returncode}")
    return done.stdout
