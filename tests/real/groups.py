"""The process groups that the cases started, so that nothing outlives the runner."""

import contextlib
import os
import signal
import threading

_lock = threading.Lock()
_running = set()


def add(pid):
    with _lock:
        _running.add(pid)


def end(pid):
    """Kills what is left of a group, then forgets it."""
    with _lock:
        _running.discard(pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def end_all():
    with _lock:
        running = list(_running)
    for pid in running:
        end(pid)
