#!/usr/bin/env python3
"""A crawl of which one of five captures is somewhere else.

usage: other_hosts.py WARC OUT N      these are on other hosts, N of each site on each such host
       other_hosts.py WARC OUT PAGES  these are left out, and are pages without URI in the directory PAGES

WARC is compressed with gzip, as OUT is. It has one response to each request, without transfer or content coding.
"""
import gzip
import hashlib
import os
import re
import sys

from later_crawl import records


def main():
    _, path, out, where = sys.argv
    pages = None if where.isdigit() else where
    if pages:
        os.makedirs(pages)
    moved = {}
    with gzip.open(path) as f, open(out, "wb") as first:
        for record, uri in records(f):
            identity = re.search(rb"(?i)\nwarc-record-id: *<([^>]+)>", record)[1]
            if not uri or hashlib.md5(identity).digest()[0] % 5:
                first.write(gzip.compress(record, mtime=0))
            elif pages:
                body = record.split(b"\r\n\r\n", 2)[2][:-4]
                with open(os.path.join(pages, identity.decode().rpartition(":")[2] + ".html"), "wb") as page:
                    page.write(body)
            else:
                scheme, _, host, rest = uri.strip(b"<>").split(b"/", 3)
                n = moved[host] = moved.get(host, -1) + 1
                other = b"%s//www.m%d%s.example/%s" % (scheme, n // int(where), re.sub(rb"\W", b"", host), rest)
                first.write(gzip.compress(record.replace(uri, other, 1), mtime=0))


if __name__ == "__main__":
    main()
