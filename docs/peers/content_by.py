#!/usr/bin/env python3
"""Score main content by language and by kind of page, and list the worst pages.

usage: content_by.py PAGES TRUTH TEXTS [TEXTS ...]
PAGES: JSON lines with ID, URI, HTML (content_train.py pages); TRUTH: content-a.truth.jsonl; TEXTS: JSON lines with
record_id and text, a file for each program, named by the file. The language is that of the html element, the kind what
the page says of itself (og:type or the type of its JSON-LD). A page of segments counts as a page of F1 over its segments;
the tables add up segments, and average bodies.
"""
import collections, json, os, re, sys
W = re.compile(r"\w+"); flat = lambda t: re.sub(r"\s+", " ", t).strip()
def shingles(t, k=4):
    w = W.findall(t); return collections.Counter(tuple(w[i:i + k]) for i in range(max(1, len(w) - k + 1))) if w else collections.Counter()
f1 = lambda p, r: 2 * p * r / (p + r) if p + r else 0.0
def language(h):
    m = re.search(r"<html[^>]*\slang\s*=\s*[\"']?([a-zA-Z]+)", h); return m.group(1).lower() if m else "unknown"
def kind(h):
    m = re.search(r"property=[\"']?og:type[\"']?\s+content=[\"']?([\w.:]+)", h) or re.search(r"content=[\"']?([\w.:]+)[\"']?\s+property=[\"']?og:type", h)
    if m and m.group(1).lower() not in ("website", "object", "blog"): return m.group(1).lower().split(".")[0].split(":")[-1]
    t = re.findall(r"\"@type\"\s*:\s*\"(\w+)\"", h)
    for x in t:
        if x in ("NewsArticle", "Article", "BlogPosting", "ReportageNewsArticle"): return "article"
        if x in ("Product", "Recipe", "QAPage", "DiscussionForumPosting", "Event", "JobPosting"): return x.lower()
    return "website" if m or t else "says nothing"
pages = {}
for l in open(sys.argv[1]):
    d = json.loads(l); pages[d["ID"]] = (language(d["HTML"]), kind(d["HTML"]), len(d["HTML"]))
truth = [json.loads(l) for l in open(sys.argv[2])]
all_ = {os.path.basename(n): {d["record_id"]: d["text"] for d in map(json.loads, open(n))} for n in sys.argv[3:]}
def score(d, t):
    """tp, fp, fn of segments; or precision and recall of a body"""
    if "body" in d:
        a, b = shingles(d["body"]), shingles(t); c = sum((a & b).values())
        return "body", (c / sum(b.values()) if b else 0.0, c / sum(a.values()) if a else 1.0)
    f = flat(t); tp = sum(flat(s) in f for s in d["with"]); return "seg", (tp, sum(flat(s) in f for s in d["without"]), len(d["with"]) - tp)
for name, texts in all_.items():
    groups = collections.defaultdict(lambda: [[], []]); worst = []
    for d in truth:
        what, s = score(d, texts.get(d["record_id"], ""))
        lang, k, size = pages[d["record_id"]]
        for g in ("language " + lang, "kind " + k, "all"): groups[g][what == "body"].append(s)
        if what == "body": worst.append((f1(*s), what, "P %.2f R %.2f" % s, d["uri"], lang, k))
        else: worst.append((2 * s[0] / max(1, 2 * s[0] + s[1] + s[2]), what, "right %d extra %d lost %d" % s, d["uri"], lang, k))
    print("==", name)
    for g, (seg, body) in sorted(groups.items(), key=lambda x: -len(x[1][0]) - len(x[1][1])):
        if len(seg) + len(body) < 5: continue
        tp, fp, fn = (sum(s[i] for s in seg) for i in range(3)); out = "%-24s" % g
        if seg: p, r = tp / max(1, tp + fp), tp / max(1, tp + fn); out += "  %3d pages of segments %.3f / %.3f / %.3f" % (len(seg), p, r, f1(p, r))
        if body: p, r = (sum(s[i] for s in body) / len(body) for i in (0, 1)); out += "  %3d bodies %.3f / %.3f / %.3f" % (len(body), p, r, f1(p, r))
        print(out)
    worst.sort()
    for w in worst[:20]: print("worst %.2f %s %s %s %s %s" % w)
