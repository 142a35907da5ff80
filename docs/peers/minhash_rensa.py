#!/usr/bin/env python3
"""Near-duplicate clusters of WARC and WET files: FastWARC, Resiliparse, word shingles, rensa's MinHash LSH.

usage: minhash_rensa.py [--processes 2] [--permutations 128] [--threshold 0.7] [--shingle 5] [--main]
                        [--clusters FILE] FILE...

A file of gzip members is read in parts by all processes. Text that is mostly of three bytes a
character (Chinese, Japanese, Thai) is shingled by characters. Prints one line of JSON.
"""
import argparse
import collections
import io
import json
import multiprocessing
import os
import resource
import time
import zlib

from fastwarc.warc import ArchiveIterator, WarcRecordType
from rensa import RMinHash, RMinHashLSH

from extract_fastwarc import pages, resiliparse

PARTS = 8    # parts of a file for each process
BATCH = 256  # texts signed at once


def parts(path, processes):
    """(path, start, end) of parts of the file that start with a record."""
    size = os.path.getsize(path)
    step = max(size // (PARTS * processes) + 1, 64 << 10)
    with open(path, "rb") as f:
        if f.read(3) != b"\x1f\x8b\x08":
            return [(path, 0, size)]
        starts = [0]
        for at in range(step, size, step):
            f.seek(at)
            window = f.read(step)
            i = window.find(b"\x1f\x8b\x08")
            while i >= 0:
                try:
                    if zlib.decompressobj(31).decompress(window[i:i + 4096], 5) == b"WARC/":
                        starts.append(at + i)
                        break
                except zlib.error:
                    pass
                i = window.find(b"\x1f\x8b\x08", i + 1)
    return [(path, a, b) for a, b in zip(starts, starts[1:] + [size]) if a < b]


def texts(data, o):
    for record_id, body, charset in pages(io.BytesIO(data)):
        yield record_id, resiliparse(body, charset, o.main)
    if b"conversion" in zlib.decompressobj(47).decompress(data, 4096):  # WET
        for record in ArchiveIterator(io.BytesIO(data), record_types=WarcRecordType.conversion, inplace=True):
            yield record.record_id, record.reader.read().decode("utf-8", "replace")


def shingles(text, n):
    words = list(text) if len(text.encode()) > 2 * len(text) else text.split()
    return list(map(" ".join, zip(*(words[i:] for i in range(n))))) or [text]


def sign(job):
    (path, start, end), o = job
    with open(path, "rb") as f:
        f.seek(start)
        data = f.read(end - start)
    ids, sets, signed = [], [], []
    for record_id, text in texts(data, o):
        if not text.strip():
            continue
        ids.append(record_id)
        sets.append(shingles(text, o.shingle))
        if len(sets) == BATCH:
            signed += RMinHash.from_token_sets(sets, num_perm=o.permutations, seed=42)
            sets = []
    if sets:
        signed += RMinHash.from_token_sets(sets, num_perm=o.permutations, seed=42)
    return ids, signed, time.process_time(), os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def bands(permutations, threshold):
    """The number of bands whose curve is steepest nearest to the threshold."""
    divisors = [b for b in range(1, permutations + 1) if permutations % b == 0]
    return min(divisors, key=lambda b: abs((1 / b) ** (b / permutations) - threshold))


def cluster(signed, o):
    lsh = RMinHashLSH(threshold=o.threshold, num_perm=o.permutations, num_bands=bands(o.permutations, o.threshold))
    lsh.insert_many(signed)
    parent = list(range(len(signed)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    compared = 0
    for i, candidates in enumerate(lsh.query_all(signed)):
        for j in candidates:
            if j > i:
                a, b = root(i), root(j)
                if a != b:
                    compared += 1
                    if signed[i].jaccard(signed[j]) >= o.threshold:
                        parent[b] = a
    groups = collections.defaultdict(list)
    for i in range(len(signed)):
        groups[root(i)].append(i)
    return [g for g in groups.values() if len(g) > 1], compared


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="+")
    p.add_argument("--processes", type=int, default=2)
    p.add_argument("--permutations", type=int, default=128)
    p.add_argument("--threshold", type=float, default=0.7)
    p.add_argument("--shingle", type=int, default=5)
    p.add_argument("--main", action="store_true", help="shingles of Resiliparse's main content")
    p.add_argument("--clusters", help="write the clusters as JSON lines")
    o = p.parse_args()
    wall = time.perf_counter()
    ids, signed, cpu, peak = [], [], {}, {}
    with multiprocessing.Pool(o.processes) as pool:
        for i, s, seconds, pid, rss in pool.imap(sign, [(part, o) for path in o.file for part in parts(path, o.processes)]):
            ids += i
            signed += s
            cpu[pid], peak[pid] = seconds, rss
    signing = time.perf_counter() - wall
    groups, compared = cluster(signed, o)
    wall = time.perf_counter() - wall
    total = time.process_time() + sum(cpu.values())
    if o.clusters:
        with open(o.clusters, "w", encoding="utf-8") as out:
            for g in groups:
                out.write(json.dumps({"members": [{"record_id": ids[i]} for i in g]}) + "\n")
    print(json.dumps({
        "name": f"FastWARC + Resiliparse + rensa, {o.permutations} permutations, {o.threshold}",
        "pages": len(ids), "clusters": len(groups), "in_clusters": sum(map(len, groups)), "compared": compared,
        "signing_wall_s": round(signing, 2), "wall_s": round(wall, 2), "cpu_s": round(total, 2),
        "pages/s": round(len(ids) / wall), "pages/cpu_s": round(len(ids) / total),
        "peak_MB": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + sum(peak.values())) / 1024),
    }))


if __name__ == "__main__":
    main()
