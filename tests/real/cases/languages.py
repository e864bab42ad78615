"""Interpreters and virtual machines, each running a script of programs/ that prints digests."""

from case import case
from execution import PROGRAMS, nothing


@case("python3", needs=["python3"], proves=["python3"])
def python3(run):
    """python3: threads, subprocess, multiprocessing, json, sqlite3; again without its own arenas"""
    run.command("python3", PROGRAMS / "work.py")
    # By default python takes small objects from mmap arenas of its own; this sends all of them to us.
    run.command("python3", PROGRAMS / "work.py", env={"PYTHONMALLOC": "malloc"})


@case("perl", needs=["perl"], proves=["perl"])
def perl(run):
    """perl: strings, hashes, regular expressions, sort, fork with pipes"""
    run.command("perl", PROGRAMS / "work.pl")


@case("ruby", needs=["ruby"], proves=["ruby"])
def ruby(run):
    """ruby: strings, hashes, threads, fork, heap compaction"""
    run.command("ruby", PROGRAMS / "work.rb")


@case("lua", needs=["lua5.4"], proves=["lua5.4"])
def lua(run):
    """lua: tables, closures, coroutines, string building (every object is one realloc call)"""
    run.command("lua5.4", PROGRAMS / "work.lua")


@case("node", needs=["node"], proves=["node"], timeout=90)
def node(run):
    """node: JSON, buffers, worker threads, zlib and crypto on the thread pool, child processes"""
    run.command("node", PROGRAMS / "work.js")


@case("java", needs=["java"], proves=["java"], timeout=90)
def java(run):
    """java -version, then the virtual machine archives its 1,300 core classes and starts from them"""
    run.command("java", "-version")
    # The dump reports addresses and times; what counts is that the archive works.
    run.command("java", "-Xshare:dump", "-XX:SharedArchiveFile=core.jsa", show=nothing, show_errors=nothing)
    run.command("java", "-Xshare:on", "-XX:SharedArchiveFile=core.jsa", "--list-modules")
    run.command("java", "-Xint", "-XX:+UseSerialGC", "--describe-module", "java.base", show=sorted_words)


def sorted_words(text):
    """The virtual machine prints sets, in an order that changes from run to run."""
    return "\n".join(sorted(text.split())) + "\n"


@case("php", needs=["php"], proves=["php"])
def php(run):
    """php: extensions loaded by deep binding (mbstring, dom, intl, sqlite3), with and without its arenas"""
    run.command("php", PROGRAMS / "work.php")
    run.command("php", PROGRAMS / "work.php", env={"USE_ZEND_ALLOC": "0"})
