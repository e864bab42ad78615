"""A case: one source file (or one `case` line of it) in one mode, with what it must do.

The head of a source says how to build and judge it, in lines that start with `//@` (`#@` in bash):

    //@ modes=system,preload rows=F01,F02 timeout=60 tags=alone
    //@ case stack args="stack" signal=ABRT stderr="invalid free: pointer 0x"

A line without `case` sets defaults for the file; each `case NAME` line adds one variant.
"""

import dataclasses
import pathlib
import re
import shlex
import signal

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests-c"
FOLDERS = ("contract", "interpose", "fork", "thread", "limits", "memory", "misuse", "signal")
SUFFIXES = (".c", ".cc", ".rs", ".sh")
MODES = ("system", "preload", "static", "full", "dlopen")
DIRECTIVE = re.compile(r"^(?://|#)@ (.*)$")
LISTS = ("modes", "rows", "tags", "need", "libs")
WORDS = ("args", "flags", "env", "wrap")
KEYS = {"timeout", "long_timeout", "preload_before", "preload_after", "exit", "signal", "stdout",
        "stderr", *LISTS, *WORDS}


@dataclasses.dataclass(frozen=True)
class Case:
    """One variant of one source; `mode` is set by `in_mode`."""

    source: pathlib.Path
    variant: str = ""
    mode: str = ""
    modes: tuple = ("system", "preload", "static", "dlopen")
    rows: tuple = ()            # rows of docs/FIELD-FAILURES.md that it covers
    tags: tuple = ()            # long: more work with --long; alone: no other case beside it; machine: needs --machine
    need: tuple = ()            # names from needs.py
    libs: tuple = ()            # sources in support/ to build as shared objects
    preload_before: str = ""    # a support library placed before ours in LD_PRELOAD
    preload_after: str = ""
    wrap: tuple = ()            # a command to run the program under
    flags: tuple = ()           # extra compiler and linker flags
    env: tuple = ()
    args: tuple = ()
    timeout: int = 60
    long_timeout: int = 900
    exit: int = 0
    signal: str = ""
    stdout: str = ""
    stderr: str = ""            # without it, a line of ours on stderr is a failure

    @property
    def name(self):
        stem = str(self.source.relative_to(SOURCES).with_suffix(""))
        return f"{stem}:{self.variant}" if self.variant else stem

    @property
    def id(self):
        return f"{self.name} [{self.mode}]"

    def in_mode(self, mode):
        return dataclasses.replace(self, mode=mode)


def _settings(source, words):
    """The key=value words of one directive, converted to the types of Case."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS:
            raise SystemExit(f"{source}: unknown setting '{word}' (known: {', '.join(sorted(KEYS))})")
        if key in LISTS:
            found[key] = tuple(filter(None, value.split(",")))
        elif key in WORDS:
            found[key] = tuple(shlex.split(value))
        else:
            found[key] = int(value) if key in ("timeout", "long_timeout", "exit") else value
    for mode in found.get("modes", ()):
        if mode not in MODES:
            raise SystemExit(f"{source}: unknown mode '{mode}' (known: {', '.join(MODES)})")
    if found.get("signal"):
        signal.Signals["SIG" + found["signal"]]  # KeyError names the bad one
    return found


def read(source):
    """Every variant of a source, in the order of its header."""
    defaults, variants = {}, []
    for line in source.read_text().splitlines():
        match = DIRECTIVE.match(line)
        if not match:
            continue
        words = shlex.split(match[1])
        if words[0] == "case":
            variants.append((words[1], _settings(source, words[2:])))
        else:
            defaults.update(_settings(source, words))
    return [Case(source, variant, **{**defaults, **own}) for variant, own in variants or [("", {})]]


def discover():
    """Every case of every folder, in a stable order."""
    sources = [path for folder in FOLDERS for path in sorted((SOURCES / folder).iterdir())
               if path.suffix in SUFFIXES]
    return [case for source in sources for case in read(source)]
