#!/usr/bin/env python3
"""Rebuild from the papers' definitions what a workspace has: signatures, perhaps-similar sets, scores, clusters.

usage: go run ./docs/peers/rows WORKSPACE | python3 docs/peers/brute.py

For the methods paper (and any other with the ring, merge lists, direct or following, closing transitive and the
measure tlcs with one round), cosine, simhash and simfinder. Standard library only, but brotli (pip install brotli) to read the
dictionary, and nothing of neardup but the files of that: slow, and no early exits. Every row is compared with what the definitions give. Prints a count of rows and of
differences for each kind, and exits with 1 if there is one. docs/papers.md states the readings.
"""
import hashlib
import json
import math
import pathlib
import re
import struct
import sys
import unicodedata


def category(c):
    return unicodedata.category(c)


def is_word(c):
    return category(c)[0] in "LMN"


def columns(s):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)


def cut(s, limit):
    n = 0
    for i, c in enumerate(s):
        n += columns(c)
        if limit > 0 and n > limit:
            return s[:i]
    return s


def member(ranges):
    return frozenset(chr(c) for lo, hi in ranges for c in range(lo, hi + 1))


def closes_then_ends(s, i):
    """Only what closes a quotation or a bracket stands between s[i] and white space or the end."""
    while i < len(s):
        c = s[i]
        if c in " \n":
            return True
        if ord(c) < 128 and c not in "\"')]}" or ord(c) >= 128 and category(c) not in ("Pe", "Pf", "Pi"):
            return False
        i += 1
    return True


def wide(c):
    """A wide letter that is not Korean."""
    return category(c).startswith("L") and unicodedata.east_asian_width(c) in "WF" and not unicodedata.name(c, "").startswith("HANGUL")


def spaced(c):
    """A character of a script in which spaces stand between clauses."""
    return unicodedata.name(c, "").split(" ")[0] in ("THAI", "LAO", "MYANMAR", "KHMER")


def sentences(text, terminal):
    """Visible blocks, cut at punctuation (section 3.1)."""
    out, start, i = [], 0, 0
    def end(at):
        s = text[start:at]
        a, b = 0, len(s)
        while a < b and not is_word(s[a]):
            a += 1
        while b > a and not is_word(s[b - 1]):
            b -= 1
        if a < b:
            out.append(s[a:b])
    while i < len(text):
        c = text[i]
        before, after = text[max(0, i - 1):i], text[i + 1:i + 2]
        behind = re.compile(r"(\[[0-9]{1,3}\])*").match(text, i + 1).end()  # the numbers of notes
        if (c == "\n" or c in ".,:;!?…" and closes_then_ends(text, behind) or c in terminal
                or c in ".,:;!?" and (before and wide(before) or after and wide(after))
                or c == " " and before and spaced(before) and len(text[start:i].encode()) >= 72):
            end(i)
            start = i + 1 if c in "\n " else behind
            i = start - 1
        i += 1
    end(len(text))
    return out


def ring_signatures(text, o, terminal):
    """Rings of MD5, n rotations, m classes, the k smallest that are spread, projection (section 3.1)."""
    prints, seen = [], set()
    for s in sentences(text, terminal):
        width = columns(s)
        digest = hashlib.md5(s.encode()).digest()
        if width <= o["min_columns"] or digest in seen:
            continue
        seen.add(digest)
        weight = math.floor(1024 * (1 + math.log(width)) + 0.5) if o["weight"] == "log" else 1
        prints.append((digest, weight))
    out = set()
    for rotation in range(o["rotations"]):
        classes = {}
        for place, (digest, weight) in enumerate(prints):
            turned = int.from_bytes(digest[rotation:] + digest[:rotation], "big")
            classes.setdefault(turned % o["modulus"], []).append((turned, weight, place))
        for members in classes.values():
            chosen = []
            for turned, weight, place in sorted(members):
                if len(chosen) < o["smallest"] and all(abs(place - p) >= o["spread"] for _, _, p in chosen):
                    chosen.append((turned, weight, place))
            if len(chosen) < o["smallest"]:
                continue
            bits = 0
            for b in range(128):
                if sum(w if turned >> b & 1 else -w for turned, w, _ in chosen) > 0:
                    bits |= 1 << b
            out.add(bits.to_bytes(16, "big").hex())
    return out


def merged(lists, rule):
    """The final lists, by the paper's words. Keys sort ascending from the largest."""
    by = {}
    for keys in lists:
        by.setdefault(min(keys), set()).update(keys)
    sets, taken = {}, set()
    for rep in sorted(by):
        if rep not in by:
            continue
        arrived, found = sorted(by.pop(rep)), set()
        queue = list(arrived)
        found.update(arrived)
        while queue:
            k = queue.pop()
            if k in by:
                more = by.pop(k)
                if rule != "direct":
                    queue.extend(more - found)
                found |= more
        if rule == "following":
            found -= taken
            taken |= found
        sets[rep] = found
    return sets


def windows(s, width):
    """Where each window ends: the shortest run that is as wide."""
    w = [columns(c) for c in s]
    if sum(w) < width:
        return [(0, len(s))] if s else []
    out, j, n = [], 0, 0
    for i in range(len(s)):
        while n < width and j < len(s):
            n += w[j]
            j += 1
        if n < width:
            break
        out.append((i, j))
        n -= w[i]
    return out


def sketch(s, own, others):
    covered = 0
    places = []
    for i, j in own:
        if s[i:j] in others:
            places.extend(range(max(i, covered), j))
            covered = max(covered, j)
    return places


def lcs(a, b):
    """Pairs of a longest common subsequence: prefix, suffix, and the walk back through the table between."""
    p, n, m = 0, len(a), len(b)
    pairs = []
    while p < n and p < m and a[p] == b[p]:
        pairs.append((p, p))
        p += 1
    while n > p and m > p and a[n - 1] == b[m - 1]:
        n, m = n - 1, m - 1
        pairs.append((n, m))
    a, b = a[p:n], b[p:m]
    if a and b:
        # Row x has a bit for each y at which the table rises (Crochemore and others 2001).
        full = (1 << len(b)) - 1
        at = {}
        for y, c in enumerate(b):
            at[c] = at.get(c, 0) | 1 << y
        v, rows = full, [0]
        for c in a:
            u = v & at.get(c, 0)
            v = (v + u | v - u) & full
            rows.append(full & ~v)
        x, y = len(a), len(b)
        here, above = rows[x].bit_count(), rows[x - 1].bit_count()  # the table at (x, y) and (x-1, y)
        while x > 0 and y > 0:
            if a[x - 1] == b[y - 1]:
                x, y = x - 1, y - 1
                pairs.append((p + x, p + y))
            elif above == here:
                x -= 1
            else:
                y -= 1
            low = (1 << y) - 1
            here = (rows[x] & low).bit_count()
            above = (rows[x - 1] & low).bit_count() if x else 0
    return sorted(pairs)


def edit_curve(n, m, pairs):
    ops, last, x, y = [0] * (n + 1), 0, 0, 0
    for i, j in pairs + [(n, m)]:
        for k in range(x, i):
            ops[k + 1] += 1
        ops[last] += j - y
        x, y, last = i + 1, j + 1, i + 1
    d, total = [], 0
    for op in ops:
        total += op
        d.append(total)
    return d


def region(d, blocks, slope):
    """Figure 5."""
    n = len(d) - 1
    size = -(-n // blocks)
    k = -(-n // size)
    trusted = lambda s, e: float(d[e] - d[s]) <= slope * float(e - s)
    bases = []
    for i in range(k):
        weight = 0
        for j in range(i + 1, k + 1):
            weight += min(j, k + 1 - j)
            if trusted(i * size, min(j * size, n)):
                bases.append((-weight, j - i, i * size, min(j * size, n)))
    if not bases:
        return 0, 0
    best = min(bases)[:2]
    right = lambda s, e: max(x for x in range(e, min(e + size - 1, n) + 1) if x == e or trusted(s, x))
    left = lambda s, e: min(x for x in range(max(s - size + 1, 0), s + 1) if x == s or trusted(x, e))
    found = []
    for base in bases:
        if base[:2] == best:
            s, e = base[2:]
            e1 = right(s, e)
            s2 = left(s, e)
            found += [(left(s, e1), e1), (s2, right(s2, e))]
    return min(found, key=lambda r: (r[0] - r[1], r[0]))


class TLCS:
    """Sections 3.2 and 3.3, one round."""

    def __init__(self, o):
        self.o, self.prepared = o, {}

    def prepare(self, s):
        if s not in self.prepared:
            own = windows(s, self.o["window"])
            self.prepared[s] = own, {s[i:j] for i, j in own}
        return self.prepared[s]

    def compare(self, a, b):
        if (len(a), a) < (len(b), b):
            a, b = b, a
        if not b:
            return False, 0, 0
        (wa, sa), (wb, sb) = self.prepare(a), self.prepare(b)
        ka, kb = sketch(a, wa, sb), sketch(b, wb, sa)
        pairs = [(ka[i], kb[j]) for i, j in lcs("".join(a[i] for i in ka), "".join(b[i] for i in kb))]
        t = whole = len(pairs)
        if self.o["trustable"]:
            start, end = region(edit_curve(len(a), len(b), pairs), self.o["blocks"], self.o["slope"])
            t = sum(start <= i < end for i, _ in pairs)
        r, c = t / (len(a) + len(b) - t), t / len(b)
        all_r = whole / (len(a) + len(b) - whole)
        return r >= self.o["resemblance"] and all_r >= self.o["whole"] or c >= self.o["containment"], r, c


def words(s, single):
    out, run = [], ""
    for c in s:
        if is_word(c) and c not in single:
            run += c.lower() if len(c.lower()) == 1 else c
            continue
        if run:
            out.append(run)
            run = ""
        if c in single and is_word(c):
            out.append(c)
    return out + [run] if run else out


class Cosine:
    def __init__(self, o, words):
        self.o, self.words, self.vectors = o, words, {}
        if o["words"] != 1 or o["weight"] != "count":
            sys.exit("brute: cosine is rebuilt for single words that count")

    def vector(self, s):
        if s not in self.vectors:
            v = {}
            for w in self.words(s):
                v[w] = v.get(w, 0) + 1
            self.vectors[s] = v
        return self.vectors[s]

    def compare(self, a, b):
        x, y = self.vector(a), self.vector(b)
        if not x or not y:
            return False, 0, 0
        product = sum(n * y.get(w, 0) for w, n in x.items())
        r = min(1.0, product / math.sqrt(float(sum(n * n for n in x.values())) * float(sum(n * n for n in y.values()))))
        c = sum(min(n, y.get(w, 0)) for w, n in x.items()) / min(sum(x.values()), sum(y.values()))
        return r >= self.o["cosine"], r, c


M64 = (1 << 64) - 1


def string_hash(s):
    """The 64-bit hash of a term: multiply and fold."""
    def fold(state, constant):
        wide = state * constant
        return wide >> 64 ^ wide & M64
    state, rest, b = 0x6A09E667F3BCC909, 0, s.encode()
    for i, c in enumerate(b):
        rest = (rest << 8 | c) & M64
        if i % 8 == 7:
            state, rest = fold(state ^ rest, 0xBB67AE8584CAA73B), 0
    return fold(state ^ (rest | len(b) << 56 & M64), 0x3C6EF372FE94F82B)


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def term_hash(s):
    """The lecture's random vector of a term."""
    return mix(string_hash(s))


def simhash(s, single):
    v, cache = [0] * 64, {}
    for w in words(s, single):
        cache[w] = cache.get(w, 0) + 1
    if not cache:
        return None
    for w, n in cache.items():
        h = term_hash(w)
        for k in range(64):
            v[k] += n if h >> k & 1 else -n
    return sum(1 << k for k in range(64) if v[k] > 0)


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


GROUPS = "noun verb adjective other adverb connective pronoun numeral".split()


class Dictionary:
    """The dictionary of Chinese, from the file that is part of the program, and the English function words."""

    def __init__(self):
        import brotli
        folder = pathlib.Path(__file__).resolve().parents[2] / "signature" / "terms"
        b, at = brotli.decompress((folder / "words.br").read_bytes()), 0

        def varint():
            nonlocal at
            n = shift = 0
            while True:
                c = b[at]
                at += 1
                n |= (c & 127) << shift
                shift += 7
                if c < 128:
                    return n
        total = math.log2(varint())
        kinds, self.least, self.most = [], {}, {}
        for _ in range(varint()):
            n = varint()
            kind = self.group(b[at:at + n].decode())
            at += n
            low, high = varint(), varint()
            kinds.append(kind)
            self.least[kind] = min(low, self.least.get(kind, low))
            self.most[kind] = max(high, self.most.get(kind, high))
        n = varint()
        shared, more, kind, frequency = ([varint() for _ in range(n)] for _ in range(4))
        self.words, before = {}, ""
        for i in range(n):
            before = before[:shared[i]] + "".join(chr(varint()) for _ in range(more[i]))
            self.words[before] = kinds[kind[i]], frequency[i], f32(f32(total) - f32(math.log2(frequency[i])))
        self.longest = max(map(len, self.words))
        self.english = {}
        for g, listed in re.findall(r"(\w+): `([^`]*)`", (folder / "english.go").read_text()):
            for w in listed.split():
                self.english[w] = g

    def group(self, pos):
        c = pos[:1]
        if c in ("", "n", "j", "x"):
            return "noun"
        if c == "v":
            return "verb"
        if c in "ab" or c == "z" and pos != "zg":
            return "adjective"
        if c == "d":
            return "adverb"
        if c in "cpuyeohk":
            return "connective"
        return {"r": "pronoun", "m": "numeral", "q": "numeral"}.get(c, "other")

    def segment(self, run):
        """The path of the greatest product of frequencies, in sums of 32-bit floats."""
        unlisted = "noun", 1, 32.0
        best = [None] * (len(run) + 1)
        best[0] = 0.0, 0, None
        for i in range(len(run)):
            steps = [(k, self.words[run[i:i + k]]) for k in range(1, min(self.longest, len(run) - i) + 1) if run[i:i + k] in self.words]
            if not steps or steps[0][0] != 1:
                steps.append((1, unlisted))
            for k, word in steps:
                d = f32(best[i][0] + word[2])
                if best[i + k] is None or best[i + k][0] > d:
                    best[i + k] = d, i, word
        out, end = [], len(run)
        while end > 0:
            _, start, word = best[end]
            out.append((run[start:end], word))
            end = start
        return out[::-1]


def fold(c):
    if "！" <= c <= "～":
        c = chr(ord(c) - ord("！") + ord("!"))
    upper = c.upper() if len(c.upper()) == 1 else c
    return upper.lower() if len(upper.lower()) == 1 else upper


class Terms:
    """SimFinder, sections 3.1 and 3.2: terms with their weights, features, fingerprints, duplicate degree."""

    def __init__(self, weighing, sign, verify, han, paired):
        self.o, self.s, self.v, self.han, self.paired = weighing, sign, verify, han, paired
        if weighing.get("frequencies", "dictionary") != "dictionary":
            sys.exit("brute: terms are rebuilt with the frequencies of the dictionary")
        self.dictionary, self.kept = Dictionary(), {}

    def cut(self, s):
        """(term, part of speech, frequency), in order; no frequency: as the least frequent."""
        out, i, d = [], 0, self.dictionary
        while i < len(s):
            c, start = s[i], i
            if c in self.han:
                while i < len(s) and s[i] in self.han and i - start < 512:
                    i += 1
                out += [(w, g, n) for w, (g, n, _) in d.segment(s[start:i])]
            elif not is_word(c):
                i += 1
            elif c in self.paired:
                while i < len(s) and s[i] in self.paired and is_word(s[i]):
                    i += 1
                pairs = [s[k:k + 2] for k in range(start, i - 1)] or [c]
                out += [(p, "connective" if is_hiragana(p[0]) else "other", 0) for p in pairs]
            elif category(c)[0] == "M":
                i += 1
            else:
                while i < len(s) and is_word(s[i]) and s[i] not in self.han and (s[i] not in self.paired):
                    i += 1
                w = "".join(map(fold, s[start:i]))
                out.append((w, d.english.get(w) or ("numeral" if all(category(x)[0] == "N" for x in w) else "noun"), 0))
        return out[:self.o["max_terms"]]

    def weight(self, term, group, frequency):
        """Equations 1 and 2, in steps of 2^-20."""
        a, b = self.o["intervals"][group]
        base = math.floor((1 << 20) * a + 0.5)
        span = math.floor((1 << 20) * b + 0.5) - base
        least, most = self.dictionary.least.get(group, 0), self.dictionary.most.get(group, 0)
        if frequency == 0:
            frequency, least, most = 1, 1, 2
        frequency = max(frequency, least)
        if self.o["scale"] == "log":
            frequency, least, most = (math.floor(65536 * math.log2(x) + 0.5) for x in (frequency, least, most))
        above, spread = frequency - least, most - least
        if spread == 0:
            above, spread = 0, 1
        if self.o["heaviest"] == "rare":
            above = spread - above
        w = base + span * above // spread
        return w * min(len(term), 32) if self.o["long"] else w

    def weights(self, s):
        """The terms of a text in order of their first occurrences, with their weights."""
        if s not in self.kept:
            out = {}
            for term in self.cut(s):
                w = self.weight(*term)
                if w > 0 and term[0] not in out:
                    out[term[0]] = w
            self.kept[s] = out
        return self.kept[s]

    def fingerprints(self, s):
        weights = self.weights(s)
        terms = sorted(weights, key=lambda t: (-weights[t], string_hash(t)))
        total, k, part = sum(weights.values()), 0, 0
        while k < len(terms) and not part / total > self.s["threshold"]:
            part += weights[terms[k]]
            k += 1
        n = min(len(terms), k + self.s["extra"])
        if self.s["max_features"]:
            n = min(n, self.s["max_features"])
        features = terms[:n]
        if self.s["order"] == "text":
            features = [t for t in weights if t in set(features)]
        out, gram = set(), self.s["gram"]
        for i in range(max(1, len(features) - gram + 1) if features else 0):
            h = 0
            for t in features[i:i + gram]:
                h = (h * 0xA54FF53A5F1D36F1 + string_hash(t)) & M64
            out.add(mix(h).to_bytes(8, "big").hex() + "0" * 16)
        return out

    def compare(self, a, b):
        x, y = self.weights(a), self.weights(b)
        if self.v["similarity"] == "plain":
            x, y = dict.fromkeys(x, 1), dict.fromkeys(y, 1)
        common = sum(w for t, w in x.items() if t in y)
        if common == 0:
            return False, 0, 0
        mx, my = sum(x.values()), sum(y.values())
        r, c = common / (mx + my - common), common / min(mx, my)
        return r >= self.v["threshold"] or c >= self.v["containment"], r, c


def is_hiragana(c):
    return "HIRAGANA" in unicodedata.name(c, "")


def main():
    texts, left, cluster_of, postings, sets, near = {}, set(), {}, {}, {}, {}
    for line in sys.stdin:
        kind, *f = json.loads(line)
        if kind == "config":
            config = f[0]
        elif kind == "terminal":
            terminal = member(f[0])
        elif kind == "single":
            single = member(f[0])
        elif kind == "han":
            han = member(f[0])
        elif kind == "paired":
            paired = member(f[0])
        elif kind == "text":
            texts[f[0]] = f[1]
            if f[2]:
                left.add(f[0])
            if f[3]:
                cluster_of[f[0]] = f[3]
        elif kind == "posting":
            postings.setdefault(f[0], set()).add(f[1])
        elif kind == "set":
            sets[f[0][0]] = set(f[0])
        elif kind == "near":
            near[f[0], f[1]] = f[3], f[4]
    sign, search, verify = config["sign"], config["cluster"], config["verify"]
    if config["text"]["frames"] or verify["closing"] != "transitive":
        sys.exit("brute: only text.frames: 0 and verify.closing: transitive")
    compared = {t: cut(s, config["text"]["max_columns"]) for t, s in texts.items() if t not in left}
    wrong = 0

    def check(what, want, got):
        nonlocal wrong
        differ = sorted((set(want.items()) ^ set(got.items())), key=repr)
        wrong += len(differ)
        print(f"{what}: {len(got)} rows, {len(differ)} differences")
        for d in differ[:5]:
            print("   ", *map(lambda x: str(x)[:200], d))

    if sign["scheme"] == "ring":
        signed = {t: ring_signatures(s, sign, terminal) for t, s in compared.items()}
        key = {t: bytes(255 - x for x in struct.pack(">f", len(signed[t]))).hex() + t for t in compared}
        lists = {}
        for t, signatures in signed.items():
            for s in signatures:
                lists.setdefault(s, set()).add(key[t])
        freeze = lambda d: {k: frozenset(v) for k, v in d.items()}
        check("signatures, with the keys of their texts", freeze(lists), freeze(postings))
        if any(len(l) > search["site_list"] or len(l) > search["max_list"] for l in lists.values()):
            sys.exit("brute: lists so long that they may be deleted are not rebuilt")
        want = merged([l for l in lists.values() if len(l) > 1], search["merge"])
        want = {k: v for k, v in want.items() if len(v) > 1}
        check("perhaps-similar sets", freeze(want), freeze({k: v for k, v in sets.items() if len(v) > 1}))
        pairs = {(min(a, b), max(a, b)) for s in want.values() for a in s for b in s if a < b}
        text_of = {k: compared[t] for t, k in key.items()}
        if verify["measure"] == "cosine":
            cut_words = lambda s: words(s, single)
            if verify["cosine"]["terms"] == "segmented":
                terms = Terms({"max_terms": 1 << 24}, None, None, han, paired)
                cut_words = lambda s: [t for t, _, _ in terms.cut(s)]
            measure = Cosine(verify["cosine"], cut_words)
        else:
            measure = TLCS(verify)
        if verify["measure"] == "tlcs" and verify["trustable"] and verify["rounds"] != 1:
            sys.exit("brute: only one round")
        scored = {}
        for a, b in sorted(pairs):
            is_near, r, c = measure.compare(text_of[a], text_of[b])
            if is_near:
                scored[a, b] = r, c
    elif sign["scheme"] == "simhash" and search["search"] == "hamming" and sign["simhash"]["words"] == 1:
        signed = {t: simhash(s, single) for t, s in compared.items()}
        rows = {k[8:]: int(s[:16], 16) for s, keys in postings.items() for k in keys}
        check("signatures", {t: s for t, s in signed.items() if s is not None}, rows)
        keys = {k[8:]: k for s in postings.values() for k in s}
        scored, pairs = {}, []
        some = sorted((t for t in signed if signed[t] is not None), key=lambda t: keys[t])
        for i, a in enumerate(some):
            for b in some[i + 1:]:
                d = (signed[a] ^ signed[b]).bit_count()
                pairs.append(d)
                if d <= search["hamming"]["distance"]:
                    scored[keys[a], keys[b]] = 1 - d / 64, 1 - d / 64
    elif sign["scheme"] == "terms" and verify["measure"] == "terms" and search["merge"] == "pairs" and search["common"] == 1:
        terms = Terms(config["text"]["terms"], sign["terms"], verify["terms"], han, paired)
        signed = {t: terms.fingerprints(s) for t, s in compared.items()}
        key = {t: bytes(255 - x for x in struct.pack(">f", len(s))).hex() + t for t, s in compared.items()}
        lists = {}
        for t, signatures in signed.items():
            for s in signatures:
                lists.setdefault(s, set()).add(key[t])
        freeze = lambda d: {k: frozenset(v) for k, v in d.items()}
        check("signatures, with the keys of their texts", freeze(lists), freeze(postings))
        if search["site_list"] or any(len(l) > search["max_list"] for l in lists.values()):
            sys.exit("brute: lists that may be deleted are not rebuilt")
        text_of = {k: compared[t] for t, k in key.items()}
        pairs = set()
        for l in lists.values():
            l = sorted(l)
            for i, a in enumerate(l if len(l) <= search["all_pairs"] else l[:1]):
                pairs.update((a, b) for b in l[i + 1:])
        scored, linked = {}, {}
        def leader(x):
            while linked.setdefault(x, x) != x:
                x = linked[x]
            return x
        for a, b in sorted(pairs):
            if verify["transitivity"] and leader(a) == leader(b):
                continue
            is_near, r, c = terms.compare(text_of[a], text_of[b])
            if is_near:
                scored[a, b] = r, c
                linked[leader(a)] = leader(b)
    else:
        sys.exit("brute: not this method")
    digits = lambda d: {k: tuple(round(x, 12) for x in v) for k, v in d.items()}
    check(f"near pairs with their scores, of {len(pairs)} compared", digits(scored), digits(near))

    # Similarity is transitive: components, and texts that are in none by themselves.
    parent = {}
    def root(x):
        while parent.setdefault(x, x) != x:
            parent[x] = x = parent[parent[x]]
        return x
    for a, b in scored:
        parent[root(a[8:])] = root(b[8:])
    groups = {}
    for t in parent:
        groups.setdefault(root(t), set()).add(t)
    clusters = {}
    for t, c in cluster_of.items():
        clusters.setdefault(c, set()).add(t)
    check("clusters of several texts", {min(g): frozenset(g) for g in groups.values()},
          {min(g): frozenset(g) for g in clusters.values() if len(g) > 1})
    sys.exit(1 if wrong else 0)


main()
