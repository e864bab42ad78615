"""Compilers: objects and executables must come out equal to the byte, and must run."""

from case import case
from execution import PROGRAMS


@case("gcc", needs=["gcc"], proves=["cc1", "as", "ld", "collect2", "lto1"])
def gcc(run):
    """gcc -O2 -g and -flto on a C file; the compiled program then runs too"""
    source = PROGRAMS / "hash_table.c"
    for name, flags in (("plain", []), ("lto", ["-flto"])):
        run.command("gcc", "-O2", "-g", *flags, "-frandom-seed=1", "-c", source, "-o", f"{name}.o")
        run.command("gcc", "-O2", "-g", *flags, f"{name}.o", "-o", name)
    run.digest("plain.o", "lto.o", "plain")
    run.command("./plain")
    run.command("./lto")


@case("g++", needs=["g++"], proves=["cc1plus", "as", "ld", "containers"], timeout=90)
def gxx(run):
    """g++ -O2 -g on a template-heavy C++17 file; the compiled program churns containers in threads"""
    source = PROGRAMS / "containers.cpp"
    run.command("g++", "-std=c++17", "-O2", "-g", "-pthread", source, "-o", "containers")
    run.digest("containers")
    run.command("./containers")


@case("rustc", needs=["rustc", "gcc"], proves=["collect2", "words"], own_malloc=["rustc"], timeout=90)
def rustc(run):
    """rustc brings its own malloc and keeps it, while gcc, which links, and the program use ours"""
    run.command("rustc", "--edition", "2021", "-O", "-C", "debuginfo=1", PROGRAMS / "words.rs", "-o", "words")
    run.digest("words")
    run.command("./words")
