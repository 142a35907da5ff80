#!/usr/bin/env python3
"""Scores lookups of pages of a labelled set that are not in the workspace.

usage: neardup lookup --json --workspace ws PAGES/* | lookups_score.py PAGES SET

PAGES is the directory of other_hosts.py. SET.truth.tsv has the labels. Of the first match of each page: right if the
two are near-duplicates, wrong if not, or not judged. A page without a match is missed if the workspace has a
near-duplicate of it.
"""
import collections
import json
import os
import sys


def main():
    _, pages, prefix = sys.argv
    names = sorted(os.listdir(pages))
    held = {f"<urn:uuid:{n.removesuffix('.html')}>" for n in names}
    truth, near = {}, collections.defaultdict(set)
    with open(prefix + ".truth.tsv", encoding="utf-8") as f:
        for line in f:
            a, b, resemblance, *both = line.rstrip("\n").split("\t")
            truth[a, b] = .65 if both else float(resemblance)
            if truth[a, b] >= .8:
                near[a].add(b)
                near[b].add(a)
    counts = collections.Counter()
    for name, line in zip(names, sys.stdin, strict=True):
        page = f"<urn:uuid:{name.removesuffix('.html')}>"
        matches = json.loads(line)["matches"]
        if not matches:
            counts["missed" if near[page] - held else "rightly none"] += 1
            continue
        match = f"<{matches[0]['record_id'].strip('<>')}>"
        resemblance = truth.get((min(page, match), max(page, match)), 0)
        counts["right" if resemblance >= .8 else "wrong" if resemblance < .5 else "not judged"] += 1
    print(", ".join(f"{k} {counts[k]}" for k in ("right", "wrong", "not judged", "missed", "rightly none")))


if __name__ == "__main__":
    main()
