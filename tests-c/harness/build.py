"""Compiles the cases into build/tests-c, one object per source, one program per way of linking."""

import functools
import pathlib
import subprocess
import tempfile
import zlib

from .case import ROOT, SOURCES

OUT = ROOT / "build" / "tests-c"
LIBRARY = ROOT / "target" / "release" / "libhakmem.so"  # run.py --library changes it
SUPPORT = SOURCES / "support"
HEADERS = sorted(SUPPORT.glob("*.h"))
# -fno-builtin-X: the compiler may otherwise remove a malloc whose block is never read.
COMMON = ["-O2", "-g", "-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc", "-fno-builtin-free",
          "-fno-builtin-aligned_alloc", "-fno-omit-frame-pointer", "-pthread", "-D_GNU_SOURCE", f"-I{SUPPORT}",
          "-Wall", "-Wextra", "-Werror",
          # What the cases do on purpose:
          "-Wno-alloc-size-larger-than", "-Wno-stringop-overflow", "-Wno-use-after-free", "-Wno-free-nonheap-object",
          "-Wno-array-bounds", "-Wno-unused-result", "-Wno-mismatched-dealloc", "-Wno-nonnull",
          "-Wno-deprecated-declarations"]
LANGUAGE = {".c": ["gcc", "-std=gnu17"], ".cc": ["g++", "-std=gnu++17", "-Wno-mismatched-new-delete"]}


class Failed(Exception):
    """A compiler said no; the text is its output."""


def linking(mode):
    """preload and system run the same program; the other modes each link their own."""
    return {"system": "plain", "preload": "plain"}.get(mode, mode)


def program(case):
    if case.source.suffix == ".sh":
        return case.source
    stem = case.source.relative_to(SOURCES).with_suffix("")
    flags = f"-{zlib.crc32(repr(case.flags).encode()):08x}" if case.flags else ""  # variants may differ in them
    return OUT / "bin" / stem.parent / f"{stem.name}{flags}.{linking(case.mode)}"


def archive():
    """The static form of the library under test lies beside the shared one."""
    return LIBRARY.with_suffix(".a")


def library(source_name):
    return OUT / "lib" / pathlib.Path(source_name).with_suffix(".so")


def _stale(target, inputs):
    if not target.exists():
        return True
    made = target.stat().st_mtime
    return any(path.stat().st_mtime > made for path in inputs)


def _run(command, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    done = subprocess.run([*command, "-o", str(partial)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, cwd=target.parent)
    if done.returncode:
        raise Failed(f"{' '.join(command)}\n{done.stdout}ended with {done.returncode}")
    partial.rename(target)


def build_library(source_name):
    source, target = SUPPORT / source_name, library(source_name)
    if _stale(target, [source, *HEADERS]):
        _run([*LANGUAGE[source.suffix], *COMMON, "-shared", "-fPIC", str(source)], target)


def build_program(case):
    """Builds what `case` runs, unless it is newer than everything it is made of."""
    target = program(case)
    how = linking(case.mode)
    archives = [archive()] if how in ("static", "full") else []
    if case.source.suffix == ".sh" or not _stale(target, [case.source, *HEADERS, *archives, pathlib.Path(__file__)]):
        return
    if case.source.suffix == ".rs":
        _run(["rustc", "--edition=2021", "-O", "-C", "panic=abort", str(case.source)], target)
        return
    compiler = LANGUAGE[case.source.suffix]
    defines = ["-DTEST_DLOPEN"] if how == "dlopen" else []
    # -fPIC or -static: an object for one is not good for the other's startup files, so build in one step.
    link = [] if how != "full" else ["-static"]
    # hak_version pulls the archive in even if the program names no malloc of its own.
    ours = ["-Wl,-u,hak_version", str(archive())] if archives else []
    _run([*compiler, *COMMON, *defines, *link, str(case.source), *ours, *case.flags, "-ldl"], target)


def jobs(cases):
    """What must be built for `cases`: functions without duplicates, each with the cases that need it."""
    wanted = {}
    for case in cases:
        for name in filter(None, [*case.libs, case.preload_before, case.preload_after]):
            wanted.setdefault(name, (functools.partial(build_library, name), []))[1].append(case)
        wanted.setdefault(program(case), (functools.partial(build_program, case), []))[1].append(case)
    return list(wanted.values())


def scratch(case):
    """A new directory for one run, under the build tree; runs that failed leave theirs."""
    (OUT / "run").mkdir(parents=True, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=case.id.replace("/", ".").replace(" ", "") + "-", dir=OUT / "run"))
