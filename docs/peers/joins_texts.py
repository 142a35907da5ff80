#!/usr/bin/env python3
"""Texts to all similar pairs in one process: SetSimilaritySearch's exact all-pairs join.

usage: joins_texts.py [--measure jaccard] [--threshold 0.8] [--tokens words|characters] [--size 1] TEXTS

TEXTS has a text a line, after the last tab, or as "text" of a JSON object; gzip if its name ends so. Words are
cut at white space, in lower case; characters make q-grams of --size. A text is the set of its tokens, one without
any is left out. Prints one line of JSON; seconds are processor time, without reading the file.
"""
import argparse
import gzip
import json
import time

from SetSimilaritySearch import all_pairs


def read(path):
    """(id, text) of each line; the id is the line's number where it has none."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as f:
        for n, line in enumerate(f):
            if line.startswith("{"):
                row = json.loads(line)
                yield row.get("id", n), row["text"]
            else:
                head, _, text = line.rstrip("\r\n").rpartition("\t")
                yield head or n, text


def tokens(text, unit, size):
    units = text.lower().split() if unit == "words" else list(text)
    if unit == "words" and size == 1:
        return set(units)
    join = " ".join if unit == "words" else "".join
    return {join(units[i:i + size]) for i in range(max(1, len(units) - size + 1))} if units else set()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file")
    p.add_argument("--measure", choices=["jaccard", "cosine"], default="jaccard")
    p.add_argument("--threshold", type=float, default=0.8)
    p.add_argument("--tokens", choices=["words", "characters"], default="words")
    p.add_argument("--size", type=int, default=1)
    o = p.parse_args()
    texts = [text for _, text in read(o.file)]
    start = time.process_time()
    sets = [s for text in texts if (s := tokens(text, o.tokens, o.size))]
    cut = time.process_time()
    pairs = sum(1 for _ in all_pairs(sets, similarity_func_name=o.measure, similarity_threshold=o.threshold))
    end = time.process_time()
    print(json.dumps({"name": "SetSimilaritySearch", "texts": len(texts), "pairs": pairs,
                      "tokenize-ms": round(1000 * (cut - start)), "cpu-ms": round(1000 * (end - start))}))


if __name__ == "__main__":
    main()
