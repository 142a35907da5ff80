#!/usr/bin/env python3
"""Texts to near-duplicate clusters in one process: word shingles and datasketch's MinHash LSH, as minhash_texts.py does.

usage: minhash_datasketch.py [--permutations 128] [--threshold 0.7] [--shingle 5] [--clusters FILE] TEXTS.jsonl

TEXTS.jsonl has an object with "text", and "id" for --clusters, a line. Prints one line of JSON; seconds are
processor time.
"""
import argparse
import collections
import json
import time

from datasketch import MinHash, MinHashLSH

from minhash_rensa import bands, shingles


def cluster(signed, o):
    n = bands(o.permutations, o.threshold)
    lsh = MinHashLSH(num_perm=o.permutations, params=(n, o.permutations // n))
    parent = list(range(len(signed)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, m in enumerate(signed):
        for j in lsh.query(m):
            a, b = root(i), root(j)
            if a != b and m.jaccard(signed[j]) >= o.threshold:
                parent[a] = b
        lsh.insert(i, m, check_duplication=False)
    groups = collections.defaultdict(list)
    for i in range(len(signed)):
        groups[root(i)].append(i)
    return [g for g in groups.values() if len(g) > 1]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file")
    p.add_argument("--permutations", type=int, default=128)
    p.add_argument("--threshold", type=float, default=0.7)
    p.add_argument("--shingle", type=int, default=5)
    p.add_argument("--clusters", help="write the clusters as JSON lines")
    o = p.parse_args()
    with open(o.file, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    texts = [row["text"] for row in rows]
    times = [time.process_time()]
    sets = [[s.encode() for s in set(shingles(text, o.shingle))] for text in texts]
    times.append(time.process_time())
    signed = MinHash.bulk(sets, num_perm=o.permutations)
    times.append(time.process_time())
    groups = cluster(signed, o)
    times.append(time.process_time())
    if o.clusters:
        with open(o.clusters, "w", encoding="utf-8") as out:
            for g in groups:
                out.write(json.dumps({"members": [{"record_id": rows[i]["id"]} for i in g]}) + "\n")
    print(json.dumps({
        "name": "datasketch", "texts": len(texts), "clusters": len(groups), "in_clusters": sum(map(len, groups)),
        "shingling_s": round(times[1] - times[0], 2), "signing_s": round(times[2] - times[1], 2),
        "clustering_s": round(times[3] - times[2], 2), "texts/cpu-s": round(len(texts) / (times[3] - times[0])),
    }))


if __name__ == "__main__":
    main()
