"""Checks every row of a keep list against the texts, with an LCS of its own.

    neardup export -w ws --format keep -o keep.csv
    neardup export -w ws --format corpus --all -o texts.jsonl
    python keep.py keep.csv texts.jsonl [--min-resemblance 0.99] [--max-lost 200] [--min-text 200] [--lost-uris]
        [--contained] [--same-host] [--same-uri] [--every day|month|year] [--exempt PATTERN]

Needs rapidfuzz. Exits with 1 if a row does not hold:

- a redundant page names a page of its cluster that is kept, and that is no revisit
  unless both repeat one capture;
- by rapidfuzz's LCS of the two texts, the page is at least as alike, and loses at
  most as much, as its row says, and both keep the limits; with --contained, the
  limit holds for the share of its text that the page that is kept has;
- a redundant page with fewer than --min-text bytes of text has the payload digest of the
  page that is kept;
- with --same-host, --same-uri, --every and --exempt, the two pages are as these say;
- every URI of the collection has a page that is not redundant;
- every page of the list is in the collection, once.
"""

import argparse
import collections
import csv
import json
import re
import sys
from urllib.parse import urlsplit

from rapidfuzz.distance import LCSseq

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("list")
parser.add_argument("texts")
parser.add_argument("--min-resemblance", type=float, default=0.99)
parser.add_argument("--max-lost", type=int, default=200)
parser.add_argument("--min-text", type=int, default=200)
parser.add_argument("--lost-uris", action="store_true", help="URIs may be lost")
parser.add_argument("--contained", action="store_true")
parser.add_argument("--same-host", action="store_true")
parser.add_argument("--same-uri", action="store_true")
parser.add_argument("--every", choices=["day", "month", "year"])
parser.add_argument("--exempt", help="pattern with * for any characters")
args = parser.parse_args()

csv.field_size_limit(1 << 30)
pages = {}
for line in open(args.texts, encoding="utf-8"):
    page = json.loads(line)
    pages[page["record_id"]] = page

rows = list(csv.DictReader(open(args.list, encoding="utf-8", newline="")))
by_id = {row["record_id"]: row for row in rows}
wrong = []


def fail(row, why):
    wrong.append(f"{row['record_id']} {row['uri']}: {why}")


cache = {}


def common(a, b):
    key = (a, b)
    if key not in cache:
        cache[key] = LCSseq.similarity(a, b)
    return cache[key]


counts = collections.Counter()
lost_stated = lost_true = characters = 0
for row in rows:
    counts[row["action"]] += 1
    if row["record_id"] not in pages:
        fail(row, "is not in the collection")
        continue
    if row["action"] != "redundant":
        continue
    kept = by_id.get(row["kept"])
    if kept is None or kept["action"] != "keep" or kept["cluster"] != row["cluster"]:
        fail(row, f"stands for by {row['kept']}, which is not kept in its cluster")
        continue
    a, b = pages[row["record_id"]]["text"], pages[row["kept"]]["text"]
    if kept["revisit_of"] and (a != b or row["revisit_of"] != kept["revisit_of"]):
        fail(row, "a revisit stands for it")
    same = len(a) if a == b else common(a, b)
    resemblance, lost = same / (len(a) + len(b) - same), len(a) - same
    stated, stated_lost = float(row["resemblance"]), int(row["lost"])
    counts["alike"] += a == b
    lost_true, lost_stated, characters = lost_true + lost, lost_stated + stated_lost, characters + len(a)
    if int(row["characters"]) != len(a):
        fail(row, f"{len(a)} characters, not {row['characters']}")
    if resemblance < stated - 0.00005 or lost > stated_lost:
        fail(row, f"resemblance {resemblance:.4f}, loses {lost}; the list says {stated} and {stated_lost}")
    reached = 1 - stated_lost / max(1, len(a)) if args.contained else stated
    if reached + 0.00005 < args.min_resemblance or 0 <= args.max_lost < stated_lost:
        fail(row, f"{stated}, {stated_lost} are beyond the limits")
    if len(a.encode()) < args.min_text and row["digest"] != kept["digest"]:
        fail(row, "little text, and another payload")
    if args.same_host and urlsplit(row["uri"]).hostname != urlsplit(kept["uri"]).hostname:
        fail(row, f"is stood for by {kept['uri']}, of another host")
    if args.same_uri and row["uri"] != kept["uri"]:
        fail(row, f"is stood for by {kept['uri']}")
    digits = {"day": 10, "month": 7, "year": 4, None: 0}[args.every]
    if row["date"][:digits] != kept["date"][:digits]:
        fail(row, f"of {row['date']}, and stood for by a page of {kept['date']}")
    if args.exempt and re.fullmatch(".*".join(map(re.escape, args.exempt.split("*"))), row["uri"], re.IGNORECASE):
        fail(row, "is exempt")
    if (stated == 1) != (a == b):
        fail(row, f"resemblance {stated}, and the texts are {'' if a == b else 'not '}the same")

if len(by_id) != len(rows):
    wrong.append(f"{len(rows)} rows, {len(by_id)} record ids")
uris = collections.defaultdict(int)
for record, page in pages.items():
    uris[page["uri"]] += by_id.get(record, {"action": "keep"})["action"] != "redundant"
gone = [uri for uri, left in uris.items() if uri and not left]
if gone and not args.lost_uris:
    wrong.append(f"{len(gone)} URIs are lost: {gone[:5]}")

print(f"{len(pages)} pages of {len(uris)} URIs, {len(rows)} in the list: {counts['keep']} kept, {counts['review']} to review, {counts['redundant']} redundant")
print(f"of these {counts['alike']} have the text of the kept page; {lost_stated} of {characters} characters are lost by the list, {lost_true} by rapidfuzz; {len(gone)} URIs are lost")
for line in wrong[:20]:
    print("WRONG", line)
print(f"{len(wrong)} rows do not hold" if wrong else "every row holds")
sys.exit(bool(wrong))
