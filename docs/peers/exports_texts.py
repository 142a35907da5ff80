#!/usr/bin/env python3
"""Texts of invented words in clusters of two and of four, as a collection for the exports.

    python3 exports_texts.py [CLUSTERS] > texts.tsv
"""

import random
import sys


def main():
    rng = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = ["".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))) for _ in range(20000)]
    sentence = lambda: " ".join(rng.choice(words) for _ in range(rng.randint(5, 12))).capitalize() + "."
    for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 50000):
        original = [sentence() for _ in range(25)]
        for variant in range(2 if i % 2 else 4):
            text = list(original)
            if variant in (1, 2):
                text[rng.randrange(len(text))] = sentence()
            print(f"http://h{i % 97}.example/p{i}/v{variant}\t{' '.join(text)}")


if __name__ == "__main__":
    main()
