#!/usr/bin/env python3
"""Texts that change little by little, so that near pairs link all of them: each has 16 sentences, of which one is its
own, and over STEP texts the others become those of the next generation, one after another.

    python3 drift_texts.py TEXTS [STEP] > texts.tsv
"""

import random
import sys

SENTENCES = 16


def main():
    texts, step = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    rng = random.Random(5)
    syllable = lambda: rng.choice("bdfgklmnprst") + rng.choice("aeiou")
    words = ["".join(syllable() for _ in range(rng.randint(1, 3))) for _ in range(5000)]
    sentence = lambda n: " ".join(rng.choice(words) for _ in range(n)).capitalize() + "."
    generations = [[sentence(11) for _ in range(SENTENCES)] for _ in range(texts // step + 2)]
    for i in range(texts):
        at = i / step
        g = int(at)
        text = [generations[g + ((at - g) * SENTENCES > j + .5)][j] for j in range(SENTENCES)]
        text[rng.randrange(SENTENCES)] = sentence(9 + rng.randrange(5))
        print(f"http://h{i % 997}.example/p{i}\t{' '.join(text)}")


if __name__ == "__main__":
    main()
