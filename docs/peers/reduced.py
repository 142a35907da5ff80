"""Reads a reduced archive back with warcio and FastWARC, and compares it with the
archives that it was made of.

    neardup export -w ws --format warc -o reduced
    python reduced.py reduced

Needs warcio and fastwarc. Exits with 1 if something does not hold:

- the reduced archives have all records of the former ones, in their order, with the
  same headers and blocks, except those that left-out.jsonl lists;
- each line of the index leads to a record with its URI;
- FastWARC reads as many records as warcio.
"""

import collections
import hashlib
import json
import pathlib
import sys

import fastwarc
from warcio.archiveiterator import ArchiveIterator

folder = pathlib.Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
left_out = collections.defaultdict(set)
for line in open(folder / "left-out.jsonl", encoding="utf-8"):
    line = json.loads(line)
    left_out[line["archive"]].add(line["offset"])


def records(path):
    with open(path, "rb") as f:
        iterator = ArchiveIterator(f, no_record_parse=True)
        for record in iterator:
            digest = hashlib.sha256(repr(record.rec_headers.headers).encode())
            digest.update(record.raw_stream.read())
            yield iterator.get_record_offset(), digest.hexdigest()


wrong = total = gone = 0
for file in manifest["files"]:
    if file.get("entry"):
        print(f"{file['path']} {file['entry']}: not read, it is in a WACZ file")
        continue
    path = folder / "archive" / file["archive"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
        print(f"WRONG {path}: sha256")
        wrong += 1
    drop = left_out[file["archive"]]
    want = [digest for offset, digest in records(file["path"]) if offset not in drop]
    got = [digest for _, digest in records(path)]
    if got != want or len(got) != file["read_back"]:
        print(f"WRONG {path}: {len(got)} records, want {len(want)}; the manifest says {file['read_back']}")
        wrong += 1
    fast = sum(1 for _ in fastwarc.ArchiveIterator(open(path, "rb"), parse_http=False))
    if fast != len(got):
        print(f"WRONG {path}: FastWARC reads {fast} records, warcio {len(got)}")
        wrong += 1
    total, gone = total + len(got), gone + len(drop)

lines = 0
for line in open(folder / "indexes" / "index.cdxj", encoding="utf-8"):
    fields = json.loads(line.split(" ", 2)[2])
    with open(folder / "archive" / fields["filename"], "rb") as f:
        f.seek(int(fields["offset"]))
        record = next(ArchiveIterator(f, no_record_parse=True))
        if record.rec_headers.get_header("WARC-Target-URI").strip("<>") != fields["url"]:
            print(f"WRONG {line}")
            wrong += 1
    lines += 1

print(f"{len(manifest['files'])} files, {total} records read by warcio and FastWARC as before, {gone} left out; {lines} lines of the index lead to their records")
sys.exit(bool(wrong))
