#!/usr/bin/env python3
"""A crawl and a later one: the records of one of 20 URIs of an archive go into a second file.

usage: later_crawl.py WARC FIRST SECOND

WARC is compressed with gzip, as FIRST and SECOND are, which get each record as a member.
"""
import gzip
import hashlib
import sys


def records(f):
    """Yields the records of a WARC file, each with its header, and their target URIs."""
    while head := f.readline():
        if not head.strip():
            continue
        lines, length, uri = [head], 0, b""
        while (line := f.readline()).strip():
            lines.append(line)
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if name.lower() == b"warc-target-uri":
                uri = value.strip()
        yield b"".join(lines) + b"\r\n" + f.read(length) + b"\r\n\r\n", uri


def main():
    _, path, *names = sys.argv
    with gzip.open(path) as f, open(names[0], "wb") as first, open(names[1], "wb") as second:
        for record, uri in records(f):
            (second if hashlib.md5(uri).digest()[0] % 20 == 0 else first).write(gzip.compress(record, mtime=0))


if __name__ == "__main__":
    main()
