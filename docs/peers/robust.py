#!/usr/bin/env python3
"""What neardup makes of each file below a directory, beside warcio, as a table.

usage: robust.py [--limit MB] [--listing FILE] [--differences] DIR NEARDUP

Each file gets a workspace of its own. Columns: exit code; peak memory; records and documents of neardup;
captures beyond the documents (duplicates); records skipped by reason; damaged places and clipped captures;
records of warcio; payload digests, where both have one, that are equal. For the digests give the output of

    NEARDUP_ARCHIVE="$(find DIR -type f | paste -sd:)" go test ./extract -run TestListing -v

--differences prints each record that only one of the two has and each digest that is not equal.
Exits with 1 where a file took more memory than the limit, or an exit code is none of neardup's.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import records_warcio

EXPECTED = {0, 3}  # done; some input could not be read


def extract(neardup, path, work):
    """Exit code, peak memory in MB, counts, and what is wrong with the file."""
    ws = os.path.join(work, "ws")
    with open(os.path.join(work, "log"), "w+b") as log:
        p = subprocess.Popen([neardup, "extract", "--progress", "none", "--workspace", ws, path], stdout=log, stderr=log)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    counts, error = {}, ""
    manifest = os.path.join(ws, "manifest.json")
    if os.path.exists(manifest):
        with open(manifest, encoding="utf-8") as f:
            m = json.load(f)
        counts = next((s["counts"] for s in m.get("stages", []) if s["name"] == "extract"), {})
        error = "; ".join(i["error"] for i in m.get("inputs", []) if i.get("error"))
    return p.returncode, usage.ru_maxrss / 1024, counts, error


def listing(path):
    """The lines of the test's output by file."""
    by = collections.defaultdict(list)
    if path:
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith("{"):
                    r = json.loads(line)
                    by[os.path.realpath(r["file"])].append(r)
    return by


def compare(ours, theirs):
    """Equal digests, digests of both, and the differences in words. Records are matched by their order."""
    ours = [r for r in ours if "damage" not in r]
    equal = both = 0
    words = []
    for n in range(max(len(ours), len(theirs))):
        a = ours[n] if n < len(ours) else None
        b = theirs[n] if n < len(theirs) else None
        if a is None or b is None:
            words.append(f"record {n} at {(a or b)['offset']}: {'only warcio' if a is None else 'only neardup'}")
        elif a["offset"] != b["offset"] and a.get("type") != "arc":
            words.append(f"record {n}: at {a['offset']}, warcio {b['offset']}")
        elif "digest" in a and "digest" in b:
            both += 1
            if a["digest"] == b["digest"]:
                equal += 1
            else:
                words.append(f"record {n} at {a['offset']}: {a['bytes']} bytes {a['digest']}, "
                             f"warcio {b['bytes']} bytes {b['digest']}, declared {b['declared']}")
        elif "digest" in a or "digest" in b and b["bytes"] > 0:
            words.append(f"record {n} at {a['offset']}: digest of {'neardup' if 'digest' in a else 'warcio'} only, "
                         f"{b['type']}, {a.get('reason', 'document')}")
    return equal, both, words


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("dir")
    p.add_argument("neardup")
    p.add_argument("--limit", type=int, default=512, help="MB of memory")
    p.add_argument("--listing", help="output of TestListing")
    p.add_argument("--differences", action="store_true")
    o = p.parse_args()
    lists = listing(o.listing)
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(o.dir) for f in names)
    bad, greatest, differences = 0, 0, []
    codes, total = collections.Counter(), collections.Counter()
    print("| file | exit | MB | records | documents | duplicates | skipped | damaged | clipped | warcio | digests equal |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for path in files:
        name = os.path.relpath(path, o.dir)
        with tempfile.TemporaryDirectory() as work:
            code, mb, c, error = extract(os.path.abspath(o.neardup), path, work)
        found, theirs = records_warcio.read(path)
        digests = ""
        if ours := lists.get(os.path.realpath(path)):
            equal, both, words = compare(ours, found)
            digests = f"{equal} of {both}" if both else ""
            differences += [f"{name}: {w}" for w in words]
            total["digests equal"] += equal
            total["digests"] += both
        codes[code] += 1
        greatest = max(greatest, mb)
        bad += code not in EXPECTED or mb > o.limit
        for key in ["records", "documents", "duplicates", "damaged", "clipped"]:
            total[key] += c.get(key, 0)
        total["warcio's records"] += theirs["records"]
        skipped = error or ", ".join(f"{k} {n}" for k, n in sorted(c.get("skipped", {}).items()))
        stops = " (" + theirs["error"].split(":")[0] + ")" if theirs["error"] else ""
        print(f"| {name} | {code} | {mb:.0f} | " + " | ".join(
            str(c.get(k, "")) for k in ["records", "documents", "duplicates"]) +
            f" | {skipped} | {c.get('damaged', '')} | {c.get('clipped', '')} | {theirs['records']}{stops} | {digests} |",
            flush=True)
    print(f"\n{len(files)} files; exit codes " + ", ".join(f"{c}: {n}" for c, n in sorted(codes.items())) +
          f"; greatest peak {greatest:.0f} MB; " + ", ".join(f"{k} {n:,}" for k, n in total.items()))
    if o.differences:
        print("\n" + "\n".join(differences))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
