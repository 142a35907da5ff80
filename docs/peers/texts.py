#!/usr/bin/env python3
"""Texts of WARC and WET files as JSON lines, as the other scripts here read them: FastWARC with Resiliparse.

usage: texts.py FILE... > TEXTS.jsonl

A line is {"id": WARC-Record-ID, "text": text}; pages of WARC files with all visible text.
"""
import argparse
import json
import sys

from minhash_rensa import texts


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="+")
    o = p.parse_args()
    o.main = False
    sys.stdout.reconfigure(encoding="utf-8")
    for path in o.file:
        with open(path, "rb") as f:
            for record_id, text in texts(f.read(), o):
                if text.strip():
                    sys.stdout.write(json.dumps({"id": record_id, "text": text}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
