#!/usr/bin/env python3
"""Texts to near-duplicate clusters in one process: word shingles and rensa's MinHash LSH, as minhash_rensa.py does.

usage: minhash_texts.py [--permutations 128] [--threshold 0.7] [--shingle 5] TEXTS.jsonl

TEXTS.jsonl has an object with "text" a line. Prints one line of JSON; seconds are processor time.
"""
import argparse
import json
import time

from rensa import RMinHash

from minhash_rensa import cluster, shingles


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file")
    p.add_argument("--permutations", type=int, default=128)
    p.add_argument("--threshold", type=float, default=0.7)
    p.add_argument("--shingle", type=int, default=5)
    o = p.parse_args()
    with open(o.file, encoding="utf-8") as f:
        texts = [json.loads(line)["text"] for line in f]
    times = [time.process_time()]
    sets = [shingles(text, o.shingle) for text in texts]
    times.append(time.process_time())
    signed = RMinHash.from_token_sets(sets, num_perm=o.permutations, seed=42)
    times.append(time.process_time())
    groups, _ = cluster(signed, o)
    times.append(time.process_time())
    print(json.dumps({
        "name": "rensa", "texts": len(texts), "clusters": len(groups), "in_clusters": sum(map(len, groups)),
        "shingling_s": round(times[1] - times[0], 2), "signing_s": round(times[2] - times[1], 2),
        "clustering_s": round(times[3] - times[2], 2), "texts/cpu-s": round(len(texts) / (times[3] - times[0])),
    }))


if __name__ == "__main__":
    main()
