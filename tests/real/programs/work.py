"""Threads, processes, json, sqlite3 and compression; prints digests that depend on every result."""

import concurrent.futures
import ctypes
import hashlib
import json
import multiprocessing
import os
import queue
import re
import sqlite3
import subprocess
import sys
import threading
import warnings
import zlib


def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def documents(seed, count):
    state, made = seed, []
    for number in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        made.append(
            {
                "id": number,
                "name": f"user-{state:x}",
                "tags": [f"t{state >> shift & 31}" for shift in range(0, 40, 5)],
                "note": "x" * (state >> 50),
            }
        )
    return made


def json_round_trip(seed):
    text = json.dumps(documents(seed, 800), indent=1)
    back = json.loads(text)
    words = re.findall(r"user-[0-9a-f]+", text)
    return digest([len(text), zlib.crc32(text.encode()), sorted(words)[:50], back[-1]])


def hand_over():
    """Blocks made by one thread and freed by another."""
    pipe, total = queue.Queue(64), []

    def produce(start):
        for number in range(start, start + 2000):
            pipe.put(bytes([number % 251]) * (number % 3000 + 1))
        pipe.put(None)

    producers = [threading.Thread(target=produce, args=(start,)) for start in (0, 10_000, 20_000)]
    for thread in producers:
        thread.start()
    open_ends = len(producers)
    while open_ends:
        block = pipe.get()
        if block is None:
            open_ends -= 1
        else:
            total.append(len(block) * block[0])
    for thread in producers:
        thread.join()
    return digest(sorted(total))


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table item(id integer primary key, name text, body text)")
    rows = ((d["id"], d["name"], json.dumps(d["tags"])) for d in documents(7, 20_000))
    connection.executemany("insert into item values(?, ?, ?)", rows)
    connection.execute("create index by_name on item(name)")
    top = connection.execute(
        "select substr(name, 1, 7), count(*), max(length(body)) from item group by 1 order by 2 desc, 1 limit 20"
    ).fetchall()
    return digest(top)


def fork_while_churning():
    """Children forked while other threads allocate; each uses the heap and reports by exit code."""
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            [bytearray(size) for size in range(1, 4000, 37)]

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for thread in threads:
        thread.start()
    codes = []
    for number in range(20):
        child = os.fork()
        if child == 0:
            os._exit(sum(len(bytes(size)) for size in range(number * 100)) % 97)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    for thread in threads:
        thread.join()
    return codes


def foreign_blocks():
    """Blocks that C library functions allocate and ctypes gives back by free."""
    libc = ctypes.CDLL(None)
    libc.strdup.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    lengths = []
    for size in range(0, 20_000, 97):
        copy = libc.strdup(b"y" * size)
        lengths.append(len(ctypes.string_at(copy)))
        libc.free(copy)
    return digest(lengths)


def main():
    # Later versions warn, with the process id, about the fork that fork_while_churning is about.
    warnings.simplefilter("ignore", DeprecationWarning)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print("json in threads:", *pool.map(json_round_trip, range(6)))
    print("hand over:", hand_over())
    print("sqlite3:", database())
    code = "import json, sys; print(sum(json.load(sys.stdin)))"
    for size in (10, 100_000):
        numbers = json.dumps(list(range(size)))
        child = subprocess.run([sys.executable, "-c", code], input=numbers, capture_output=True, text=True)
        print("subprocess:", child.returncode, child.stdout.strip(), child.stderr.strip())
    with multiprocessing.Pool(2) as processes:
        print("multiprocessing:", *processes.map(json_round_trip, range(4)))
    print("fork:", fork_while_churning())
    print("strdup and free:", foreign_blocks())
    print("zlib:", zlib.crc32(zlib.compress(bytes(range(256)) * 20_000, 6)))


if __name__ == "__main__":
    main()
