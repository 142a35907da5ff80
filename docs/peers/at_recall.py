#!/usr/bin/env python3
"""Precision at one recall for each value of a setting, as in figure 8 of the TLCS paper.

usage: at_recall.py [--recall R] SETTING THRESHOLD SWEEP.csv

SWEEP.csv is what `neardup sweep --grid --out` writes. For each value of SETTING, the thresholds between which the
recall of pairs passes R are interpolated linearly.
"""
import argparse
import collections
import csv


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--recall", type=float, default=0.9)
    p.add_argument("setting")
    p.add_argument("threshold")
    p.add_argument("sweep")
    o = p.parse_args()
    points = collections.defaultdict(dict)
    for row in csv.DictReader(open(o.sweep)):
        points[float(row[o.setting])][float(row[o.threshold])] = float(row["pair_recall"]), float(row["pair_precision"])
    for value, by in sorted(points.items()):
        found = "never passes it"
        at = sorted(by.items())
        for (t0, (r0, p0)), (t1, (r1, p1)) in zip(at, at[1:]):
            if r0 >= o.recall > r1:
                part = (r0 - o.recall) / (r0 - r1)
                found = f"threshold {t0 + part * (t1 - t0):.3f}, precision {p0 + part * (p1 - p0):.4f}"
        print(f"{o.setting} {value:g}: recall {max(r for r, _ in by.values()):.4f} to {min(r for r, _ in by.values()):.4f}; at {o.recall:g} {found}")


if __name__ == "__main__":
    main()
