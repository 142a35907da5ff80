#!/usr/bin/env python3
"""A crawl of which every other capture is typeset differently.

usage: typeset.py WARC OUT

Its quotation marks, apostrophes, dashes and ellipses are straight where they were curly in a piece of text, and
curly where all were straight. WARC is compressed with gzip, as OUT is. It has no transfer or content coding.
"""
import gzip
import hashlib
import re
import sys

from later_crawl import records

MARKUP = re.compile(rb"(?is)<!--.*?-->|<(script|style|textarea|title)\b.*?</\1\s*>|<[^>]*>")
STRAIGHT = [(re.compile(a), b) for a, b in (
    (rb"&(?:[lr]dquo|bdquo|[lr]aquo|quot|#822[01]);|\xe2\x80[\x9c-\x9e]|\xc2[\xab\xbb]", b'"'),
    (rb"&(?:[lr]squo|#821[67]|#39|#x27);|\xe2\x80[\x98\x99]", b"'"),
    (rb"&(?:[mn]dash|#821[12]);|\xe2\x80[\x93\x94]", b"-"),
    (rb"&hellip;|\xe2\x80\xa6", b"..."))]
CURLY = [(re.compile(a), b) for a, b in (
    (rb'(?<![\w.,:;!?])"(?=\w)', b"&ldquo;"), (rb'"', b"&rdquo;"), (rb"(?<!\S)'", b"&lsquo;"), (rb"'", b"&rsquo;"),
    (rb"(?<= )--?(?= )", b"&mdash;"), (rb"\.\.\.", b"&hellip;"))]


def typeset(piece):
    for a, b in STRAIGHT if any(a.search(piece) for a, _ in STRAIGHT) else CURLY:
        piece = a.sub(b, piece)
    return piece


def page(body):
    out, at = [], 0
    for m in MARKUP.finditer(body):
        out += [typeset(body[at:m.start()]), m[0]]
        at = m.end()
    return b"".join(out) + typeset(body[at:])


def main():
    _, path, out = sys.argv
    with gzip.open(path) as f, open(out, "wb") as to:
        for record, uri in records(f):
            identity = re.search(rb"(?i)\nwarc-record-id: *<([^>]+)>", record)[1]
            response = re.search(rb"(?i)\nwarc-type: *response", record)
            if uri and response and hashlib.md5(b"typeset" + identity).digest()[0] % 2 == 0:
                head, http, body = record[:-4].split(b"\r\n\r\n", 2)
                block = re.sub(rb"(?i)\r\ncontent-length:[^\r]*", b"", http) + b"\r\n\r\n" + page(body)
                head = re.sub(rb"(?i)\r\nwarc-(payload|block)-digest:[^\r]*", b"", head)
                head = re.sub(rb"(?i)(\r\ncontent-length:)[^\r]*", rb"\1 %d" % len(block), head)
                record = head + b"\r\n\r\n" + block + b"\r\n\r\n"
            to.write(gzip.compress(record, mtime=0))


if __name__ == "__main__":
    main()
