#!/usr/bin/env python3
"""Frames of near pairs of random texts, to measure the filter components.

    python3 spark_links.py TEXTS | neardup stage components --plan OUTPUT/plan.json
"""

import os
import struct
import sys

PAIRS = 10_000  # of a frame


def main():
    score = bytes([1]) + struct.pack(">dd", 0.9, 0.9)
    for _ in range(int(sys.argv[1]) // (2 * PAIRS)):
        keys = ((os.urandom(20), os.urandom(20)) for _ in range(PAIRS))
        rows = sorted(min(k) + max(k) + score for k in keys)
        payload = bytes(4) + b"v" + b"".join(rows)
        sys.stdout.buffer.write(len(payload).to_bytes(4, "little") + payload)
    sys.stdout.buffer.write(bytes(4))


if __name__ == "__main__":
    main()
