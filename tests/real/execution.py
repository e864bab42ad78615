"""One execution of a case, plain or under hakmem: starts its programs and keeps a transcript.

Both executions see the same directory path, the same small environment and the same input, so
their transcripts must be equal to the byte.
"""

import contextlib
import hashlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import groups
from case import Failure

PROGRAMS = Path(__file__).resolve().parent / "programs"
STOP_SECONDS = 20  # for a server to end after its signal
LONG_OUTPUT = 100_000  # bytes; beyond it a transcript holds the digest only


@dataclass
class Program:
    """A started program; out and err are the files its output goes to."""

    argv: list
    process: subprocess.Popen
    out: Path
    err: Path

    @property
    def pid(self):
        return self.process.pid

    def __str__(self):
        line = " ".join(self.argv)
        return line if len(line) <= 200 else line[:200] + " …"


class Execution:
    def __init__(self, case, base, path, port, library=None):
        self.case = case
        self.path = path  # where programs are looked up
        self.port = port  # on 127.0.0.1, the same in both executions, for the case's server
        self.library = library  # None: the plain execution
        self.work = base / "work"
        self.proof = base / "proof.jsonl"
        self.transcript = []  # (label, text)
        self.recorded = []  # (pid, command line) of programs that must leave a proof record
        self._logs = base / "logs"
        self._started = 0
        self._deadline = time.monotonic() + case.timeout
        self._account = pwd.getpwnam(case.user) if case.user and os.geteuid() == 0 else None
        self._env = {
            "PATH": path,
            "HOME": str(self.work),
            "TMPDIR": str(self.work),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        if library:
            self._env["LD_PRELOAD"] = str(library)
            self._env["HAKMEM_PROOF"] = str(self.proof)
        self._prepare()

    def _prepare(self):
        for directory in (self.work, self._logs):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
        # A worker that gives up root must still be able to append its record.
        self.proof.touch()
        self.proof.chmod(0o666)
        if self._account:
            os.chown(self.work, self._account.pw_uid, self._account.pw_gid)

    # What a case calls

    def command(self, *argv, stdin=None, env=None, show=None, show_errors=None):
        """Runs a program to its end and adds its output to the transcript.

        show, show_errors: functions that normalise standard output and standard error before
        they are compared.
        Returns the file with the standard output.
        """
        program = self._start(argv, stdin, env)
        self.recorded.append((program.pid, str(program)))
        try:
            self._wait(program, max(0.1, self._deadline - time.monotonic()))
        finally:
            self._end(program)
        out, errors = read(program.out), read(program.err)
        self.note(f"$ {program}", show(out) if show else out)
        self.note("standard error", show_errors(errors) if show_errors else errors)
        return program.out

    @contextlib.contextmanager
    def background(self, *argv, ready, stop=None, leaves_record=True):
        """Runs a program beside the block, which starts when `ready(program)` is true.

        stop: signal that ends the program after the block; None: it ends by itself then.
        leaves_record=False: it ends by _exit, so the case proves it by `observe`.
        """
        program = self._start(argv, None, None)
        if leaves_record:
            self.recorded.append((program.pid, str(program)))
        try:
            while not ready(program):
                if program.process.poll() is not None or time.monotonic() > self._deadline:
                    raise self._failure(program, "did not become ready")
                time.sleep(0.02)
            yield program
            if stop:
                program.process.send_signal(stop)
            self._wait(program, STOP_SECONDS)
        finally:
            self._end(program)

    def observe(self, program):
        """Proves a running program by its memory map: ours is mapped, libc's heap never opened.

        The plain execution shows that this program's heap would otherwise be there to see.
        """
        maps = Path(f"/proc/{program.pid}/maps").read_text()
        if ("[heap]" in maps) == bool(self.library):
            found = "a [heap] mapping: libc served blocks" if self.library else "no [heap] to compare with"
            raise Failure(f"{self._mode()}: {program} (pid {program.pid}) has {found}")
        if self.library and str(self.library) not in maps:
            raise Failure(f"hakmem: {program} (pid {program.pid}) has not mapped {self.library}")

    def note(self, label, text):
        data = text.encode(errors="surrogateescape")
        self.transcript.append((label, text if len(data) <= LONG_OUTPUT else summary(data)))

    def digest(self, *names):
        """Adds size and SHA-256 of files that the case made."""
        for name in names:
            self.note(name, summary((self.work / name).read_bytes()))

    # How it is done

    def _mode(self):
        return "hakmem" if self.library else "plain"

    def _start(self, argv, stdin, env):
        argv = [str(word) for word in argv]
        out, err = (self._logs / f"{self._started:02}.{kind}" for kind in ("stdout", "stderr"))
        self._started += 1
        identity = {}
        if self._account:
            user, group = self._account.pw_uid, self._account.pw_gid
            identity = {"user": user, "group": group, "extra_groups": []}
        with contextlib.ExitStack() as files:
            process = subprocess.Popen(
                argv,
                executable=shutil.which(argv[0], path=self.path),
                cwd=self.work,
                env={**self._env, **(env or {})},
                stdin=files.enter_context(open(stdin or os.devnull, "rb")),
                stdout=files.enter_context(out.open("wb")),
                stderr=files.enter_context(err.open("wb")),
                start_new_session=True,
                **identity,
            )
        groups.add(process.pid)
        return Program(argv, process, out, err)

    def _wait(self, program, seconds):
        try:
            code = program.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(program, "did not end in time") from None
        if code != 0:
            raise self._failure(program, describe_exit(code))

    def _end(self, program):
        groups.end(program.pid)
        program.process.wait()

    def _failure(self, program, what):
        return Failure(
            f"{self._mode()}: {program}: {what}\n"
            f"  standard error ends with\n{tail(read(program.err), 30)}\n"
            f"  standard output ends with\n{tail(read(program.out), 10)}"
        )


def listening(port, ask=b"", answer=b""):
    """A `ready`: something accepts connections on the port and gives this answer."""

    def ready(_program):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                probe.sendall(ask)
                return not answer or probe.recv(len(answer)) == answer
        except OSError:
            return False

    return ready


def printed(text):
    """A `ready`: the program has written the text to its standard output."""
    return lambda program: text in read(program.out)


# Below the ports that connections take for themselves, so that no client sits on a server's port.
_PORTS = iter(random.sample(range(20_000, 32_000), 12_000))


def free_port():
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise Failure("no port between 20000 and 31999 is free on 127.0.0.1")


def summary(data):
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}\n"


def nothing(_text):
    """A `show` for output that only speaks of times and addresses."""
    return ""


def describe_exit(code):
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def tail(text, lines):
    kept = text.splitlines()[-lines:]
    return "\n".join("    | " + line[:300] for line in kept) or "    | (empty)"


def read(path):
    return path.read_text(errors="surrogateescape")
