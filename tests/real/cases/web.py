"""A web server under load."""

import os
import re
import signal

from case import case
from execution import PROGRAMS, listening

# Lines of ab's report that do not depend on speed.
STEADY = re.compile(r"^(Document|Complete|Failed|Non-2xx|HTML transferred).*\n", re.MULTILINE)


def make_files(directory):
    directory.mkdir()
    for name, lines in (("small.txt", 3), ("middle.txt", 700), ("large.txt", 40_000)):
        (directory / name).write_text("".join(f"{n} {n * n} {'x' * (n % 40)}\n" for n in range(lines)))
    (directory / "large.bin").write_bytes(bytes(n * n % 251 for n in range(3_000_000)))
    includes = "".join('<!--#include virtual="/small.txt" -->' for _ in range(50))
    (directory / "page.html").write_text(f"<html>{includes}</html>\n")
    for path in directory.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))  # shown in headers and listings


@case("nginx", needs=["nginx", "ab", "curl"], proves=["nginx", "ab", "curl"], timeout=90)
def nginx(run):
    """nginx: files to ab with keep-alive, compressed, proxied, by range, included, listed"""
    make_files(run.work / "files")
    config = run.work / "nginx.conf"
    config.write_text((PROGRAMS / "nginx.conf").read_text().replace("PORT", str(run.port)))
    site = f"http://127.0.0.1:{run.port}"
    gzip = ["-H", "Accept-Encoding: gzip"]
    with run.background(
        "nginx", "-p", run.work, "-c", config, "-e", "stderr", ready=listening(run.port), stop=signal.SIGTERM
    ) as server:
        for count, words in (
            (20_000, ["-k", f"{site}/small.txt"]),
            (3_000, [f"{site}/middle.txt"]),
            (200, ["-k", *gzip, f"{site}/large.txt"]),
            (1_000, ["-k", f"{site}/again/middle.txt"]),
            (500, ["-k", f"{site}/page.html"]),
        ):
            run.command(
                "ab", "-q", "-n", count, "-c", 8, *words,
                show=lambda text: "".join(match.group() for match in STEADY.finditer(text)),
            )  # fmt: skip
        for name in ("small.txt", "large.txt", "large.bin", "page.html", "again/large.bin", "list/"):
            run.command("curl", "-sS", f"{site}/{name}")
        run.command("curl", "-sS", *gzip, f"{site}/large.txt", "-o", "large.gz")
        run.digest("large.gz")
        run.command("curl", "-sS", "-r", "100-300,5000-5100", f"{site}/large.txt", show=without_boundary)
        run.command("curl", "-sS", f"{site}/missing")
    run.note("error log", server.err.read_text())


def without_boundary(text):
    """The part boundary of a multi-range answer is random."""
    return re.sub(r"--\d{20}", "--BOUNDARY", text)
