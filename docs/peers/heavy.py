#!/usr/bin/env python3
"""Inputs that take much memory for each worker that is at them.

    python3 heavy.py chain 60000 > chain.tsv    perhaps-similar sets of up to 11,000 texts, none near another
    python3 heavy.py long 1200 > long.tsv       sets of up to 150 texts of 186,000 characters, likewise
    python3 heavy.py pdf 16 400 > pdf.warc      16 PDF documents whose page inflates to 400 MB
    python3 heavy.py table 40 16 > table.warc   40 pages of tables in tables that inflate to 16 MiB

In the first two, texts of a group share some sentences. Some texts of a chain have what the next group shares, too.
"""

import gzip
import random
import sys
import zlib

# texts of a group, sentences that they share, sentences of their own, words of a sentence
GROUPS = {"chain": (8000, 12, 30, 10), "long": (150, 700, 1500, 12)}


def texts(kind, number):
    group, shared, own, words = GROUPS[kind]
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(20000)]
    sentences = lambda n: [" ".join(rng.choices(vocabulary, k=words)).capitalize() + ". " for _ in range(n)]
    blocks = [sentences(shared) for _ in range(number // group + 2)]
    for i in range(number):
        of = i // group
        block = blocks[of] + (blocks[of + 1] if kind == "chain" and i % group < 20 else [])
        text = sentences(own)
        print(f"http://h{i % 4999}.example/{i}\t{''.join(text[:own // 2] + block + text[own // 2:])}")


def document(number, megabytes):
    c = zlib.compressobj(9)
    page = c.compress(b"BT /F1 12 Tf 72 700 Td (Document %d of those whose pages are mostly blank.) Tj ET\n" % number)
    page += b"".join(c.compress(b" " * (1 << 20)) for _ in range(megabytes)) + c.flush()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(page), page),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for i, o in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj%sendobj\n" % (i, o)
    return out + b"xref\n0 6\n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (table, len(out))


def documents(number, header, body):
    for i in range(number):
        payload = body(i)
        http = b"HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s" % (header, len(payload), payload)
        head = ("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:heavy:%d>\r\nWARC-Target-URI: http://h%d.example/\r\n"
                "WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n")
        sys.stdout.buffer.write((head % (i, i, len(http))).encode() + http + b"\r\n\r\n")


if __name__ == "__main__":
    if sys.argv[1] == "pdf":
        documents(int(sys.argv[2]), b"Content-Type: application/pdf", lambda i: document(i, int(sys.argv[3])))
    elif sys.argv[1] == "table":
        page = gzip.compress(b"<table>x" * (int(sys.argv[3]) << 17), mtime=0)
        documents(int(sys.argv[2]), b"Content-Type: text/html\r\nContent-Encoding: gzip", lambda i: page)
    else:
        texts(sys.argv[1], int(sys.argv[2]))
