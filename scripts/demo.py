"""What `make run` runs by default: threads, a database, text and a child process, all of it visible."""

import json
import random
import sqlite3
import subprocess
import sys
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

WORDS = "arena block cache drain evict fault grain heap index join".split()


def sentences(count):
    rng = random.Random(1)
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 12))) for _ in range(count)]


def count_words(lines):
    return dict(sorted(Counter(word for line in lines for word in line.split()).items()))


def compress(lines):
    pieces = [" ".join(lines[start::4]).encode() for start in range(4)]
    with ThreadPoolExecutor(4) as pool:
        packed = list(pool.map(zlib.compress, pieces))
    return f"{sum(map(len, pieces)):,} bytes became {sum(map(len, packed)):,} on 4 threads"


def query(lines):
    with sqlite3.connect(":memory:") as database:
        database.execute("create table line (length integer, words text)")
        database.executemany("insert into line values (?, ?)", ((len(line), line) for line in lines))
        database.execute("create index by_length on line (length)")
        longest = "select length, count(*) from line group by length order by length desc limit 1"
        return "the {} characters of the longest line occur {} times".format(
            *database.execute(longest).fetchone()
        )


def child(lines):
    script = "import json, sys; print(len(json.load(sys.stdin)))"
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(lines), capture_output=True, text=True, check=True
    )
    return f"a child process read {int(done.stdout):,} lines of JSON"


def main():
    lines = sentences(60_000)
    print(f"{len(lines):,} lines of text")
    for task in (count_words, compress, query, child):
        begin = time.perf_counter()
        result = task(lines)
        print(f"{task.__name__:<12} {(time.perf_counter() - begin) * 1000:6.0f} ms  {result}")


main()
