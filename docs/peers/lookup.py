#!/usr/bin/env python3
"""Times POST /lookup of a neardup serve, with pages made of a text collection.

    python3 lookup.py URL TEXTS.tsv [--pages 600] [--clients 1,2,8] [--pid PID]

A third of the pages are texts of the collection, a third such texts with a sentence
replaced, a third texts of words that the collection does not have. Each client sends
one page after another over a connection of its own. With --pid, the processor time of
the server is read from /proc.
"""

import argparse
import http.client
import json
import os
import queue
import random
import statistics
import threading
import time
import urllib.parse


def pages(path, number, rng):
    with open(path, encoding="utf-8") as f:
        size = os.fstat(f.fileno()).st_size
    texts = []
    with open(path, "rb") as f:
        while len(texts) < number:
            f.seek(rng.randrange(size))
            f.readline()
            line = f.readline().decode("utf-8")
            if "\t" in line:
                texts.append(line.rstrip("\n").split("\t", 1))
    for i, (uri, text) in enumerate(texts):
        sentences = text.split(". ")
        if i % 3 == 1:
            sentences[rng.randrange(len(sentences))] = "A sentence that nobody has written before stands here now"
        if i % 3 == 2:
            sentences = ["".join(chr(rng.randrange(97, 123)) if c.isalpha() else c for c in s) for s in sentences]
        yield uri, ". ".join(sentences).encode()


def ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("texts")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--clients", default="1,2,8")
    parser.add_argument("--pid", type=int)
    args = parser.parse_args()
    rng = random.Random(1)
    asked = list(pages(args.texts, args.pages, rng))
    host = urllib.parse.urlsplit(args.url).netloc

    def run(clients):
        todo, times, verdicts = queue.SimpleQueue(), [], {}
        for p in asked:
            todo.put(p)
        lock = threading.Lock()

        def client():
            c = http.client.HTTPConnection(host)
            while True:
                try:
                    uri, body = todo.get_nowait()
                except queue.Empty:
                    return
                began = time.perf_counter()
                c.request("POST", "/lookup?limit=3&uri=" + urllib.parse.quote(uri, safe=""), body, {"Content-Type": "text/plain; charset=utf-8"})
                answer = json.loads(c.getresponse().read())
                took = time.perf_counter() - began
                with lock:
                    times.append(took)
                    verdict = answer.get("verdict", "error")
                    verdicts[verdict] = verdicts.get(verdict, 0) + 1

        cpu = ticks(args.pid) if args.pid else 0
        began = time.perf_counter()
        threads = [threading.Thread(target=client) for _ in range(clients)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        wall = time.perf_counter() - began
        cpu = ticks(args.pid) - cpu if args.pid else 0
        times.sort()
        at = lambda q: 1000 * times[min(len(times) - 1, int(q * len(times)))]
        print(f"{clients} clients: {len(times) / wall:.0f}/s, ms median {1000 * statistics.median(times):.1f}, 95% {at(.95):.1f}, 99% {at(.99):.1f}, "
              f"slowest {1000 * times[-1]:.1f}; server {1000 * cpu / len(times):.2f} ms of processor each; {verdicts}")

    run(2)  # opens the lookups, and fills caches
    for clients in map(int, args.clients.split(",")):
        run(clients)


if __name__ == "__main__":
    main()
