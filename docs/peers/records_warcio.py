#!/usr/bin/env python3
"""Records of WARC, ARC and WACZ files as warcio reads them.

usage: records_warcio.py [--records] FILE...

Prints a line of JSON for each file: records, records by type, the error that ended the reading; and how many
payloads of responses and resources have the digest that they declare. With --records also a line for each
record: offset, type, id, HTTP status, declared digest, and sha1 in Base32 and length of the payload as stored,
that is behind the HTTP header, with its transfer and content codings.
"""
import argparse
import base64
import collections
import contextlib
import hashlib
import io
import json
import logging
import os
import zipfile

from warcio.archiveiterator import ArchiveIterator

HASHED = {"response", "resource", "conversion"}


def sources(path):
    """Streams of the file: its own, or those of the archives in a WACZ file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as z:
            for name in z.namelist():
                if name.startswith("archive/") and not name.endswith("/"):
                    yield path + "!" + name, io.BytesIO(z.read(name))
    else:
        with open(path, "rb") as f:
            yield path, f


def records(name, stream):
    """A dict for each record. What warcio raises ends them."""
    it = ArchiveIterator(stream)
    for record in it:
        r = {"file": name, "type": record.rec_type, "format": record.format,
             "id": record.rec_headers.get_header("WARC-Record-ID"),
             "declared": record.rec_headers.get_header("WARC-Payload-Digest")}
        if record.http_headers is not None:
            r["status"] = record.http_headers.get_statuscode()
        if record.rec_type in HASHED:
            sha1, r["bytes"] = hashlib.sha1(), 0
            while chunk := record.raw_stream.read(1 << 16):
                sha1.update(chunk)
                r["bytes"] += len(chunk)
            r["digest"] = "sha1:" + base64.b32encode(sha1.digest()).decode()
        r["offset"] = it.get_record_offset()  # reads the rest of the record
        yield r


def read(path):
    """The records of the file, a summary of them, and what went wrong."""
    found, errors = [], []
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stderr(io.StringIO()):  # warcio prints what it puts up with
        try:
            for name, stream in sources(path):
                try:
                    for r in records(name, stream):
                        found.append(r)
                except Exception as e:  # of many kinds, some of the standard library
                    errors.append(f"{type(e).__name__}: {str(e).split(chr(10))[0].strip()}")
        except Exception as e:
            errors.append(f"{type(e).__name__}: {e}")
    declared = [r for r in found if (r.get("declared") or "").startswith("sha1:") and "digest" in r]
    return found, {
        "file": os.path.basename(path), "records": len(found),
        "types": dict(sorted(collections.Counter(r["type"] for r in found).items())),
        "declared": len(declared), "as_declared": sum(r["declared"] == r["digest"] for r in declared),
        "error": "; ".join(errors),
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="+")
    p.add_argument("--records", action="store_true")
    o = p.parse_args()
    for path in o.file:
        found, summary = read(path)
        if o.records:
            for r in found:
                print(json.dumps(r))
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
