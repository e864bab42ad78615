"""Runs one case in a process group of its own and judges what it did."""

import dataclasses
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

from . import build

LOADER = "/lib64/ld-linux-x86-64.so.2"
OURS = re.compile(r"^hakmem: ", re.MULTILINE)


@dataclasses.dataclass
class Result:
    case: object
    seconds: float
    problem: str = ""       # empty: passed
    output: str = ""


def environment(case, peer, long):
    library = build.LIBRARY
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C",
           "TEST_MODE": "peer" if peer else case.mode, "TEST_LIBRARY": str(library), "TEST_LOADER": LOADER,
           "TEST_LIB_DIR": str(build.OUT / "lib")}
    if long:
        env["TEST_LONG"] = "1"
    before, after = (build.library(name) if name else None for name in (case.preload_before, case.preload_after))
    ours = library if case.mode == "preload" and case.source.suffix != ".sh" else None
    preloaded = [str(path) for path in (before, ours, after) if path]
    if preloaded:
        env["LD_PRELOAD"] = ":".join(preloaded)
    env.update(setting.split("=", 1) for setting in case.env)
    return env


def command(case):
    runner = ["bash"] if case.source.suffix == ".sh" else []
    return [*case.wrap, *runner, str(build.program(case)), *case.args]


def _backtrace(pid):
    """Where every thread of a stuck process stands, if gdb is there to say it."""
    if not shutil.which("gdb"):
        return ""
    done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 25"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=60, check=False)
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith(("#", "Thread")))


def _judge(case, code, output, errors):
    ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
    expected = f"signal SIG{case.signal}" if case.signal else f"exit {case.exit}"
    if ended != expected:
        return f"ended with {ended}, expected {expected}"
    if case.stdout and not re.search(case.stdout, output, re.MULTILINE):
        return f"stdout does not match /{case.stdout}/"
    if case.stderr and not re.search(case.stderr, errors, re.MULTILINE):
        return f"stderr does not match /{case.stderr}/"
    if not case.stderr and OURS.search(errors):
        return "hakmem wrote to stderr, nothing was expected"
    return ""


def execute(case, peer=False, long=False):
    """Runs `case` to its end or its timeout and returns the Result."""
    limit = case.long_timeout if long and "long" in case.tags else case.timeout
    env, place = environment(case, peer, long), build.scratch(case)
    started = time.monotonic()
    problem = ""
    with open(place / "stdout", "wb+") as out, open(place / "stderr", "wb+") as err:
        child = subprocess.Popen(command(case), env=env, cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 start_new_session=True)
        try:
            child.wait(limit)
        except subprocess.TimeoutExpired:
            problem = f"no end within {limit} s\n{_backtrace(child.pid)}"
        try:
            os.killpg(child.pid, signal.SIGKILL)  # the case's own session: whatever it left behind
        except ProcessLookupError:
            pass
        child.wait()
        out.seek(0)
        err.seek(0)
        output, errors = (stream.read().decode(errors="replace") for stream in (out, err))
    problem = problem or _judge(case, child.returncode, output, errors)
    if not problem:
        shutil.rmtree(place, ignore_errors=True)
    settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in env.items()
                        if key not in ("PATH", "HOME", "LC_ALL"))
    text = f"{output[-2000:]}{errors[-4000:]}\nagain: cd {place} && env {settings} {shlex.join(command(case))}"
    return Result(case, time.monotonic() - started, problem, text)
