#!/usr/bin/env python3
"""Builds and runs programs that only look as if they used hakmem, and demands that verification
rejects each one for the right reason; a few proper ones have to be accepted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = Path("build/negative")  # below ROOT, where everything runs
ARCHIVE = "target/release/libhakmem.a"
SHARED = "target/release/libhakmem.so"
EXPECTED = "verify/symbols.expected"

passed = failed = 0


def run(*command):
    """(status, everything the command wrote)."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def must(*command):
    status, output = run(*command)
    if status != 0:
        sys.exit(f"negative: {' '.join(map(str, command))} failed:\n{output}")


def verdict(name, output, *faults):
    global passed, failed
    faults = [fault for fault in faults if fault]
    passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{'FAIL' if faults else 'ok  '} {name}", flush=True)
    for fault in faults:
        print(f"     {fault}")
    if faults:
        print(output)


def expect(name, result, status, message):
    actual, output = result
    verdict(
        name,
        output,
        actual != status and f"exit status {actual}, not {status}",
        message not in output and f"the message is not: {message}",
    )


# ---- programs linked with the archive, by the Makefile's own rule ----

MISSING = "hak_tiny_alloc is missing: libhakmem.a is not in the binary"
OBJECT = "$(BUILD)/$*.o"
PULL = "-Wl,-u,hak_tiny_alloc"  # takes the library from the archive whatever else is defined


def changed_archive(name, *objcopy):
    copy = WORK / f"{name}.a"
    must("objcopy", *objcopy, ARCHIVE, copy)
    return copy


def linked(name, message, inputs, flags=""):
    """Builds bench_tiny in another way; with a message, the build has to fail with it."""
    out = WORK / name
    out.mkdir()
    program = out / "bench_tiny_hakmem"
    status, output = run("make", program, f"OUT={out}/", f"LINK_INPUTS={inputs}", f"LDFLAGS={flags}")
    if message is None:
        accepted = status == 0 and "✓ bench_tiny built with hakmem" in output
        verdict(f"static {name}", output, not accepted and "a proper build is rejected")
        return
    verdict(
        f"static {name}",
        output,
        status == 0 and "the build succeeds",
        message not in output and f"the message is not: {message}",
        "✓" in output and "the build says that it is verified",
        program.exists() and "the binary is still there",
    )


def static_builds():
    own, names, own_so = WORK / "own_malloc.o", WORK / "names_only.o", WORK / "libother.so"
    must("gcc", "-O1", "-fno-builtin", "-c", HERE / "own_malloc.c", "-o", own)
    must("gcc", "-c", HERE / "names_only.c", "-o", names)
    must("gcc", "-fPIC", "-shared", HERE / "names_only.c", "-Wl,-soname,libother.so", "-o", own_so)
    no_superslab = changed_archive("stripped", "--strip-symbol=hak_tiny_alloc_superslab")
    no_malloc = changed_archive("renamed", "--redefine-sym", "malloc=hakmem_malloc")
    no_tiny = changed_archive("renamed_tiny", "--redefine-sym", "hak_tiny_alloc=tiny_alloc")
    no_start = changed_archive("not_started", "--remove-section=*.init_array*", "--remove-section=*.fini_array*")

    linked("proper", None, f"{OBJECT} $(ARCHIVE)")
    linked("library_left_out", MISSING, OBJECT)
    linked("library_before_object", MISSING, f"$(ARCHIVE) {OBJECT}")
    linked("libc_before_library", MISSING, f"{OBJECT} -lc $(ARCHIVE)", "-static")
    linked("shared_library", MISSING, f"{OBJECT} -Ltarget/release -lhakmem")
    linked("stripped_binary", "the symbol table is stripped", f"{OBJECT} $(ARCHIVE)", "-s")
    linked("stripped_symbol", "hak_tiny_alloc_superslab is missing", f"{OBJECT} {no_superslab}")
    linked("renamed_symbol", MISSING, f"{OBJECT} {no_tiny}")
    linked("renamed_malloc", "malloc is not a global symbol of the binary", f"{OBJECT} {no_malloc}", PULL)
    linked("own_malloc", MISSING, f"{OBJECT} {own} $(ARCHIVE)")
    linked("own_malloc_wins", "hakmem served no block", f"{OBJECT} {own} $(ARCHIVE)", f"{PULL} -Wl,-z,muldefs")
    linked("names_only", "hakmem is not in the binary", f"{OBJECT} {own} {names}")
    linked("hidden_malloc", "malloc is not a global symbol of the binary", f"{OBJECT} $(ARCHIVE)", "-Wl,--exclude-libs,ALL")
    linked("static_libc", "statically linked with libc", f"{OBJECT} $(ARCHIVE)", "-static")
    linked("another_library", "loads libother.so", f"{OBJECT} $(ARCHIVE) {own_so}", "-Wl,--no-as-needed")
    linked("not_started", "hakmem was not started", f"{OBJECT} {no_start}")


# ---- shared libraries that must not be preloaded ----


def shared_library(name, *arguments, exports=None):
    """Links the archive as a shared library, the proper way unless the arguments say otherwise."""
    library, script = WORK / f"{name}.so", WORK / f"{name}.map"
    names = exports or Path(EXPECTED).read_text().split()
    script.write_text("{ global: " + " ".join(f"{symbol};" for symbol in names) + " local: *; };\n")
    must(
        "gcc", "-shared", "-o", library, "-Wl,--whole-archive", ARCHIVE, "-Wl,--no-whole-archive",
        object_file("dlopen", "dlopen.s"), f"-Wl,--version-script={script}", "-Wl,-z,now,-z,relro",
        *arguments,
    )
    return library


def object_file(name, source, *flags):
    target = WORK / f"{name}.o"
    must("gcc", "-fPIC", *flags, "-c", HERE / source, "-o", target)
    return target


def shared_builds():
    names = Path(EXPECTED).read_text().split()
    fewer = [name for name in names if name != "calloc"]
    more = [*names, "hak_version_suffix"]
    lazy_tls = object_file("lazy_tls", "thread_locals.c")
    large_tls = object_file("large_tls", "thread_locals.c", "-DLARGE")
    absolute = object_file("absolute", "absolute.s")
    writable = object_file("writable_code", "writable_code.s")
    cases = [
        ("proper", "", [], {}),
        ("export_missing", "does not export calloc", [], {"exports": fewer}),
        ("export_extra", "exports hak_version_suffix, which is not expected", [large_tls], {"exports": more}),
        ("bound_lazily", "is not bound at load time", ["-Wl,-z,lazy"], {}),
        ("no_relro", "has no read-only relocations", ["-Wl,-z,norelro"], {}),
        ("executable_stack", "asks for an executable stack", ["-Wl,-z,execstack"], {}),
        ("writable_code", "has a segment that is writable and executable", [writable], {"exports": more}),
        ("relocated_code", "has relocations in its code", [absolute, "-Wl,-z,notext"], {"exports": more}),
        ("needs_more", "needs libm.so.6", ["-Wl,--no-as-needed", "-lm"], {}),
        ("lazy_tls", "calls __tls_get_addr", [lazy_tls], {"exports": more}),
        ("large_tls", "bytes of static TLS, more than 64", [large_tls], {"exports": more}),
    ]
    for name, message, arguments, options in cases:
        library = shared_library(name, *arguments, **options)
        expect(f"shared {name}", run("verify/verify_so.sh", library), 1 if message else 0, message)


# ---- programs that a preload does not reach ----


def preloaded(name, status, message, *command, library=SHARED):
    result = run("verify/verify_running", "--library", library, "--", *command)
    expect(f"preload {name}", result, status, message)


def setuid_program(leaves):
    """A program that the loader runs in secure mode: for root, one that gives root up."""
    if os.getuid() != 0:
        return ["/usr/bin/su", "--version"]
    program = WORK / "setuid"
    shutil.copy(leaves, program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    return [program]


def preloads():
    leaves, static, own = WORK / "leaves", WORK / "leaves_static", WORK / "leaves_own_malloc"
    other, record = WORK / "libother_malloc.so", WORK / "record"
    must("gcc", HERE / "leaves.c", "-o", leaves)
    must("gcc", HERE / "names_only.c", "-fPIC", "-shared", "-o", other)
    must("gcc", "-static", "-w", HERE / "leaves.c", "-o", static)
    must("gcc", "-fno-builtin", HERE / "leaves.c", HERE / "own_malloc.c", "-o", own)

    preloaded("proper", 0, "✓ served by hakmem", leaves)
    preloaded("script", 0, "✓ served by hakmem", "bash", "-c", f"{leaves}; {leaves}; true")
    preloaded("program_fails", 3, "the program itself failed: exit status 7", leaves, "fail")
    preloaded("static_binary", 1, "is a static binary", static)
    preloaded("setuid", 1, "is setuid or setgid", *setuid_program(leaves))
    preloaded("own_malloc", 1, f"malloc is bound to {own.resolve()}", own)
    preloaded("libc_heap", 1, "libc's own heap is not empty", leaves, "libc-heap")
    preloaded("killed", 1, "killed by signal 9", leaves, "kill")
    preloaded("left_early", 1, "it left by _exit", leaves, "_exit")
    preloaded("another_library", 1, "the library was not loaded", leaves, library=other)
    preloaded("no_library", 2, "no such library", leaves, library=WORK / "absent.so")
    preloaded("no_program", 2, "no such program", WORK / "absent")

    for name, text, message in (
        ("empty", "", "the file has no record"),
        ("broken", "{", "not JSON"),
        ("foreign", "[]", "not a proof record"),
    ):
        record.write_text(text and text + "\n")
        expect(f"record {name}", run("verify/verify_running", "--record", record), 1, message)


def main():
    os.chdir(ROOT)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    static_builds()
    shared_builds()
    preloads()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
