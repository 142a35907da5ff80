#!/usr/bin/env python3
"""Pairs of texts for lcs_rapidfuzz.py and for BenchmarkPairs of verify/tlcs.

usage: pairs.py [--count N] [--seed S] near|far TEXTS.jsonl LABELS.truth.tsv > PAIRS.jsonl

TEXTS.jsonl is what extract_fastwarc.py --texts writes: lines of {"id": record id, "text": text}. Near pairs have
0.8 and more in LABELS, different texts; far ones are not in it.
"""
import argparse
import json
import random


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("kind", choices=["near", "far"])
    p.add_argument("texts")
    p.add_argument("truth")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    with open(o.texts, encoding="utf-8") as f:
        texts = {d["id"]: d["text"] for d in map(json.loads, f)}
    with open(o.truth, encoding="utf-8") as f:
        labels = {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in f if line.strip()}
    rng = random.Random(o.seed)
    if o.kind == "near":
        pairs = sorted(k for k, v in labels.items() if v >= 0.8 and k[0] in texts and k[1] in texts and texts[k[0]] != texts[k[1]])
        pairs = rng.sample(pairs, min(o.count, len(pairs)))
    else:
        ids, pairs = sorted(texts), []
        while len(pairs) < o.count:
            pair = tuple(sorted(rng.sample(ids, 2)))
            if pair not in labels and pair not in pairs:
                pairs.append(pair)
    for a, b in pairs:
        print(json.dumps({"a": texts[a], "b": texts[b]}, ensure_ascii=False))


if __name__ == "__main__":
    main()
