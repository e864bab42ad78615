"""Version control and databases: their files and answers must be equal."""

import signal

from case import case
from execution import PROGRAMS, listening, nothing


@case("git", needs=["git"], proves=["git"], timeout=90)
def git(run):
    """git: init, 40 commits of a growing tree, log, blame, branch and merge, gc, fsck, clone"""
    when = {"GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z"}
    repository = run.work / "repository"

    def do(*words):
        return run.command("git", "-C", repository, *words, env=when)

    (run.work / ".gitconfig").write_text(
        "[user]\n name = Tester\n email = tester@example.org\n[init]\n defaultBranch = main\n"
        "[gc]\n auto = 0\n[maintenance]\n auto = false\n[pack]\n threads = 2\n"
    )
    run.command("git", "init", "-q", repository)
    for number in range(40):
        for name in range(number % 7 + 1):
            path = repository / f"d{name}" / f"f{number * name % 11}.txt"
            path.parent.mkdir(exist_ok=True)
            with path.open("a") as file:
                file.writelines(f"{number} {line * number % 97} {'x' * (line % 50)}\n" for line in range(300))
        do("add", "-A")
        do("commit", "-q", "-m", f"commit {number}")
    do("checkout", "-q", "-b", "side", "HEAD~5")
    (repository / "side.txt").write_text("side\n")
    do("add", "side.txt")
    do("commit", "-q", "-m", "side")
    do("checkout", "-q", "main")
    do("merge", "-q", "--no-edit", "side")
    do("log", "--stat", "--graph", "-M")
    do("log", "-p", "-S", "96 xxx", "--format=%H")
    do("blame", "d0/f0.txt")
    do("gc", "-q", "--aggressive", "--prune=now")
    do("fsck", "--full", "--no-progress")
    run.command("git", "clone", "-q", "--bare", repository, "clone.git")
    run.command("git", "-C", "clone.git", "rev-list", "--objects", "--all")


@case("sqlite3", needs=["sqlite3"], proves=["sqlite3"])
def sqlite3(run):
    """sqlite3: loads 100,000 rows, indexes, joins, window functions, json, full text, vacuum"""
    run.command("sqlite3", "-batch", "shop.db", stdin=PROGRAMS / "shop.sql")
    run.digest("shop.db")
    run.command("sqlite3", "-batch", "shop.db", ".dump")


@case("redis", needs=["redis-server", "redis-benchmark", "redis-cli"], timeout=90,
      proves=["redis-server", "redis-benchmark", "redis-cli"])
def redis(run):
    """redis-server: redis-benchmark over loopback, then a Lua-made data set, snapshot and restart"""
    port = run.port
    client = ["redis-cli", "-p", port]

    def server():
        return run.background(
            "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", run.work, "--save", "",
            "--enable-debug-command", "local", stop=signal.SIGTERM,
            ready=listening(port, b"PING\r\n", b"+PONG"),  # not while it loads its snapshot
        )  # fmt: skip

    def names(text):
        """Of a CSV line "test","requests per second", ... only the test's name is reproducible."""
        return "\n".join(line.split(",")[0] for line in text.splitlines()) + "\n"

    with server():
        everything = "set,get,incr,lpush,rpop,sadd,hset,zadd"
        for tests, size, count in ((everything, 64, 20_000), ("set,lpush,lrange_100", 3000, 3000)):
            run.command(
                "redis-benchmark", "-p", port, "-n", count, "-c", 20, "-P", 8, "-r", 5000,
                "-d", size, "-t", tests, "--csv", show=names,
            )  # fmt: skip
        run.command(*client, "flushall")
        run.command(*client, "eval", (PROGRAMS / "data_set.lua").read_text(), 0)
        run.command(*client, "debug", "digest")
        run.command(*client, "bgsave")
        wait = "while redis-cli -p $0 info persistence | grep -q bgsave_in_progress:1; do sleep 0.05; done"
        run.command("bash", "-c", wait, port)
        run.command(*client, "memory", "purge")
    with server():
        run.command(*client, "dbsize")
        run.command(*client, "debug", "digest")


@case("postgres", needs=["initdb", "postgres", "pgbench", "psql"], timeout=120, user="nobody",
      proves=["initdb", "postgres", "pgbench", "psql"])
def postgres(run):
    """PostgreSQL: initdb, pgbench with four clients, then sorts, hash joins and PL/pgSQL by psql"""
    at = {"PGHOST": str(run.work), "PGDATABASE": "postgres", "PGUSER": "tester"}
    run.command("initdb", "-D", "data", "-U", "tester", "-A", "trust", "-N", "--no-locale", "-E", "UTF8")
    with run.background(
        "postgres", "-D", "data", "-k", run.work, "-c", "listen_addresses=", "-F",
        ready=lambda program: says_ready(run.work / "data/postmaster.pid"), stop=signal.SIGINT,
    ):  # fmt: skip
        # pgbench reports times; its effect on the balances is compared instead.
        run.command("pgbench", "-i", "-s", 2, "-q", env=at, show=nothing, show_errors=nothing)
        run.command("pgbench", "-n", "-c", 4, "-j", 2, "-t", 400, "--random-seed=42", env=at, show=nothing)
        run.command("psql", "-q", "-X", "-v", "ON_ERROR_STOP=1", "-f", PROGRAMS / "report.sql", env=at)


def says_ready(pid_file):
    """The socket is there before connections are accepted; the last line of this file tells."""
    return pid_file.exists() and pid_file.read_text().split()[-1:] == ["ready"]
