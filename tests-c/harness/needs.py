"""What a case may need of the machine; each check returns why it can't run here, or None."""

import os
import pathlib
import shutil
import subprocess


def _runs(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=30, check=False)
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    if done.returncode:
        return f"`{' '.join(command)}` fails: {done.stderr.decode(errors='replace').strip()[:120]}"
    return None


def root():
    return None if os.geteuid() == 0 else "needs root"


def cgroup():
    """A memory cgroup of our own, version 1 or 2."""
    if root():
        return root()
    for top in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        probe = pathlib.Path(top, f"hakmem-test-probe-{os.getpid()}")
        try:
            probe.mkdir()
        except OSError:
            continue
        usable = any((probe / limit).exists() for limit in ("memory.limit_in_bytes", "memory.max"))
        probe.rmdir()
        if usable:
            return None
    return "no memory cgroup can be made under /sys/fs/cgroup"


def fifo():
    return _runs("chrt", "-f", "10", "true")


def mount():
    return _runs("unshare", "-m", "true")


def setuid():
    """Set-user-id bits must work where the build tree lies."""
    if root():
        return root()
    build = pathlib.Path(__file__).resolve().parents[2]
    options = subprocess.run(["findmnt", "-no", "OPTIONS", "-T", str(build)], stdout=subprocess.PIPE, check=False)
    return "the build tree is mounted nosuid" if b"nosuid" in options.stdout else None


def core():
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
    return "core dumps go to a program here (core_pattern)" if pattern.startswith("|") else None


def sysctl():
    """Writing vm.overcommit_memory and the huge page policy."""
    for name in ("/proc/sys/vm/overcommit_memory", "/sys/kernel/mm/transparent_hugepage/enabled"):
        if not os.access(name, os.W_OK) or root():
            return f"{name} can't be written"
    return None


def valgrind():
    return None if shutil.which("valgrind") else "valgrind is not installed"


def rustc():
    return None if shutil.which("rustc") else "rustc is not installed"


def _memory(gib):
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return None if total >= gib * 1000 else f"needs {gib} GB of memory, the machine has {total} MiB"


def ram4():
    return _memory(4)


def ram6():
    return _memory(6)


CHECKS = {check.__name__: check for check in
          (root, cgroup, fifo, mount, setuid, core, sysctl, valgrind, rustc, ram4, ram6)}
_answers = {}


def unmet(case):
    """The first need of `case` that this machine does not meet, as a reason, or None."""
    for need in case.need:
        if need not in _answers:
            _answers[need] = CHECKS[need]()
        if _answers[need]:
            return f"{need}: {_answers[need]}"
    return None
