#!/usr/bin/env python3
"""Longest common subsequences of pairs of texts by rapidfuzz, pairs a second on one core.

usage: lcs_rapidfuzz.py [--chars N] [--repeat N] PAIRS.jsonl

A line is {"a": text, "b": text}. Prints a line of JSON for the length and one for the edit script.
"""
import argparse
import json
import time

from rapidfuzz.distance import LCSseq


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pairs")
    p.add_argument("--chars", type=int, help="of each text, from its start")
    p.add_argument("--repeat", type=int, default=1)
    o = p.parse_args()
    with open(o.pairs, encoding="utf-8") as f:
        pairs = [(d["a"][:o.chars], d["b"][:o.chars]) for d in map(json.loads, f)]
    chars = sum(len(a) + len(b) for a, b in pairs) / max(2 * len(pairs), 1)
    for _ in range(o.repeat):
        for name, of in [("similarity", LCSseq.similarity), ("editops", LCSseq.editops)]:
            cpu, common = time.process_time(), 0
            for a, b in pairs:
                result = of(a, b)
                common += result if name == "similarity" else len(result)
            cpu = time.process_time() - cpu
            print(json.dumps({
                "name": "rapidfuzz LCSseq." + name, "pairs": len(pairs), "mean_chars": round(chars),
                "mean_result": round(common / max(len(pairs), 1), 1), "cpu_s": round(cpu, 3),
                "pairs/s": round(len(pairs) / cpu, 1), "us/pair": round(1e6 * cpu / max(len(pairs), 1), 1),
            }), flush=True)


if __name__ == "__main__":
    main()
