#!/usr/bin/env python3
"""List the pages of a labelled set on which main content is worst, and wrong pairs, to be read.

usage: worst.py content TEXTS TRUTH          twenty pages with the lowest F1
       worst.py partners TEXTS SET           twenty pages whose text resembles that of their true partners least
       worst.py items TEXTS SET              twenty pages of which least is kept of what only pages of one item say
       worst.py pairs CLUSTERS SET           every pair that the clusters miss or have wrongly

TEXTS is what neardup text writes, CLUSTERS an export clusters.jsonl, TRUTH content-a.truth.jsonl, SET the prefix of
SET.pages.tsv and SET.truth.tsv. For items, TEXTS is with --parts title,byline,main,comments,frame. -n N lists N pages.

The F1 of a page is that of its segments (a wanted one found is right, an unwanted one found is wrong), or that of its
body in 4-word shingles.
Resemblance is the Jaccard similarity of 5-word shingles, as median over the partners; each Chinese, Japanese and Thai
character is a word. A line belongs to an item if, on its site, only pages of this item have it. What is kept is the share
of the characters of these lines. Lines that are lost have their part (title, byline, comments, frame).
"""
import argparse
import collections
import json
import re
import statistics

WORD = re.compile(r"\w+")
TOKEN = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")


def flat(text):
    return re.sub(r"\s+", " ", text).strip()


def lines_of(name):
    with open(name, encoding="utf-8") as f:
        for line in f:
            if line.strip():
                yield line


def texts_of(name):
    return {d["record_id"]: d for d in map(json.loads, lines_of(name))}


def f1(right, extra, lost):
    return 2 * right / (2 * right + extra + lost) if right + extra + lost else 1.0


def shingles(words, size):
    starts = range(max(1, len(words) - size + 1)) if words else ()
    return collections.Counter(tuple(words[i:i + size]) for i in starts)


def content(args):
    texts, found = texts_of(args.input), []
    for page in map(json.loads, lines_of(args.truth)):
        text = texts.get(page["record_id"], {}).get("text", "")
        if "body" in page:
            want, got = shingles(WORD.findall(page["body"]), 4), shingles(WORD.findall(text), 4)
            right = sum((want & got).values())
            counts = (right, sum(got.values()) - right, sum(want.values()) - right)
            lost, extra = [], []
        else:
            text = flat(text)
            lost = [s for s in page["with"] if flat(s) not in text]
            extra = [s for s in page["without"] if flat(s) in text]
            counts = (len(page["with"]) - len(lost), len(extra), len(lost))
        found.append((f1(*counts), page["record_id"], page["uri"], counts, lost, extra))
    for score, record, uri, counts, lost, extra in sorted(found)[:args.n]:
        right, too_many, too_few = counts
        print(json.dumps({"f1": round(score, 3), "record_id": record, "uri": uri,
                          "right": right, "extra": too_many, "lost": too_few,
                          "segments_lost": lost, "segments_extra": extra}, ensure_ascii=False))


def pages_of(prefix):
    """The site and the item of each page."""
    fields = (line.rstrip("\n").split("\t") for line in lines_of(prefix + ".pages.tsv"))
    return {f[0]: (f[3], f[4], f[1]) for f in fields}


def truth_of(prefix):
    """Jaccard similarity of pairs; a pair of which both pages carry both texts is not judged."""
    pairs = {}
    for line in lines_of(prefix + ".truth.tsv"):
        a, b, similarity, *both = line.rstrip("\n").split("\t")
        pairs[min(a, b), max(a, b)] = .65 if both else float(similarity)
    return pairs


def grams(text):
    return set(shingles(TOKEN.findall(text.lower()), 5))


def partners(args):
    texts, of, like = texts_of(args.input), {}, collections.defaultdict(list)
    for record, page in texts.items():
        of[record] = grams(page["text"])
    for (a, b), similarity in truth_of(args.truth).items():
        if similarity >= .8:
            union = len(of[a] | of[b])
            score = len(of[a] & of[b]) / union if union else 1.0
            like[a].append((score, b))
            like[b].append((score, a))
    pages = pages_of(args.truth)
    worst = sorted((statistics.median(s for s, _ in found), record) for record, found in like.items())
    for score, record in worst[:args.n]:
        print(json.dumps({"resemblance": round(score, 3), "record_id": record, "uri": pages[record][2],
                          "partners": [{"resemblance": round(s, 3), "record_id": p, "uri": pages[p][2]}
                                       for s, p in sorted(like[record])]}, ensure_ascii=False))


def items(args):
    texts, pages, part_of, items_of = texts_of(args.input), pages_of(args.truth), {}, collections.defaultdict(set)
    for record, (site, item, _) in pages.items():
        part_of[record] = {flat(line): name for name, part in texts[record]["parts"].items()
                           for line in part.split("\n") if flat(line)}
        for line in part_of[record]:
            items_of[site, line].add(item)
    found, by_site = [], collections.defaultdict(list)
    for record, (site, item, uri) in pages.items():
        kept = {flat(line) for line in texts[record]["text"].split("\n")}
        own = [line for line in part_of[record] if items_of[site, line] == {item}]
        if own:
            total, lost = sum(map(len, own)), [line for line in own if line not in kept]
            share = 1 - sum(map(len, lost)) / total
            by_site[site].append(share)
            found.append((share, record, uri, total, [[part_of[record][line], line] for line in lost]))
    for site, shares in sorted(by_site.items()):
        print(json.dumps({"site": site, "pages": len(shares), "kept": round(statistics.mean(shares), 4)}))
    for share, record, uri, total, lost in sorted(found)[:args.n]:
        print(json.dumps({"kept": round(share, 3), "record_id": record, "uri": uri, "characters": total, "lost": lost},
                         ensure_ascii=False))


def pairs(args):
    cluster, pages, truth = collections.defaultdict(set), pages_of(args.truth), truth_of(args.truth)
    for number, line in enumerate(lines_of(args.input)):
        for member in json.loads(line)["members"]:
            cluster[member["record_id"]].add(number)
    members = collections.defaultdict(list)
    for record in pages:
        for number in cluster[record]:
            members[number].append(record)
    together = {(min(a, b), max(a, b)) for m in members.values() for i, a in enumerate(m) for b in m[:i]}
    wrong = [("false", p, truth.get(p, 0.0)) for p in together if truth.get(p, 0.0) < .5]
    missed = [("missed", p, s) for p, s in truth.items() if s >= .8 and p not in together]
    for what, (a, b), similarity in sorted(wrong + missed, key=lambda x: (x[0], pages[x[1][0]][2], x[1])):
        print(json.dumps({"pair": what, "truth": similarity, "a": a, "b": b, "uris": [pages[a][2], pages[b][2]]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["content", "partners", "items", "pairs"])
    parser.add_argument("input", help="TEXTS or CLUSTERS")
    parser.add_argument("truth", help="TRUTH or SET")
    parser.add_argument("-n", type=int, default=20, help="pages to list (20)")
    args = parser.parse_args()
    {"content": content, "partners": partners, "items": items, "pairs": pairs}[args.what](args)


if __name__ == "__main__":
    main()
