#!/usr/bin/env python3
"""Texts to the pairs or clusters whose simhashes differ in few bits: the packages simhash and simhash-pybind.

usage: simhash_texts.py [--package simhash|pybind] [--distance 3] [--clusters FILE] [--prints FILE] TEXTS

TEXTS is as for joins_texts.py. Features are those of simhash by default: runs of four letters, digits and
underscores, in lower case and without what is between them, by how often they occur; a hash is 64 bits of MD5.
simhash-pybind (C++) has only the signatures and the search, and gives equal signatures once; both packages are
called simhash, so that it needs an environment of its own. Prints one line of JSON; seconds are processor time.
"""
import argparse
import collections
import gzip
import hashlib
import json
import re
import time

import simhash


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as f:
        for n, line in enumerate(f):
            if line.startswith("{"):
                row = json.loads(line)
                yield row.get("id", n), row["text"]
            else:
                head, _, text = line.rstrip("\r\n").rpartition("\t")
                yield head or n, text


def by_simhash(texts, distance):
    signed = [simhash.Simhash(text) for text in texts]
    signing = time.process_time()
    index = simhash.SimhashIndex([(str(i), s) for i, s in enumerate(signed)], k=distance)
    index.log.disabled = True  # it warns of large buckets
    pairs = [(i, int(j)) for i, s in enumerate(signed) for j in index.get_near_dups(s) if int(j) > i]
    return [s.value for s in signed], pairs, signing


LETTERS = re.compile(r"[\w\u4e00-\u9fcc]+")


def by_pybind(texts, distance):
    signed = []
    for text in texts:
        s = "".join(LETTERS.findall(text.lower()))
        signed.append(simhash.compute([int.from_bytes(hashlib.md5(s[i:i + 4].encode()).digest()[8:], "big")
                                       for i in range(max(1, len(s) - 3))]))
    signing = time.process_time()
    of = collections.defaultdict(list)
    for i, s in enumerate(signed):
        of[s].append(i)
    pairs = [(i, j) for group in of.values() for k, i in enumerate(group) for j in group[k + 1:]]
    # More blocks than the distance by one make the fewest tables; by two and three it took longer.
    for a, b in simhash.find_all(of.keys(), distance + 1, distance):
        pairs += [(min(i, j), max(i, j)) for i in of[a] for j in of[b]]
    return signed, pairs, signing


def clusters(n, pairs):
    parent = list(range(n))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, j in pairs:
        parent[root(j)] = root(i)
    groups = collections.defaultdict(list)
    for i in range(n):
        groups[root(i)].append(i)
    return [g for g in groups.values() if len(g) > 1]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file")
    p.add_argument("--package", choices=["simhash", "pybind"], default="simhash")
    p.add_argument("--distance", type=int, default=3)
    p.add_argument("--clusters", help="write the clusters, single link, as JSON lines")
    p.add_argument("--prints", help="write the signatures, a hexadecimal number a line")
    o = p.parse_args()
    ids, texts = zip(*read(o.file))
    start = time.process_time()
    signed, pairs, signing = (by_simhash if o.package == "simhash" else by_pybind)(texts, o.distance)
    end = time.process_time()
    if o.clusters:
        with open(o.clusters, "w", encoding="utf-8") as out:
            for g in clusters(len(texts), pairs):
                out.write(json.dumps({"members": [{"record_id": ids[i]} for i in g]}) + "\n")
    if o.prints:
        with open(o.prints, "w", encoding="utf-8") as out:
            out.writelines(f"{s:016x}\n" for s in signed)
    print(json.dumps({"name": o.package, "texts": len(texts), "pairs": len(pairs), "cpu-ms": round(1000 * (end - start)),
                      "find-ms": round(1000 * (end - signing), 1), "texts/cpu-s": round(len(texts) / (end - start), 1)}))


if __name__ == "__main__":
    main()
