#!/usr/bin/env python3
"""Web pages around texts, as two archives: every host has a design of its own, with styles, scripts, a menu and a
footer, and every page has the text as an article, beside links to the latest pages of the host. A page has 25 KB.

usage: texts_pages.py FIRST LATER NUMBER [KB] < texts.tsv

FIRST gets the pages of so many texts, and LATER those of the others. With KB, pages have so many more: half of them
scripts and styles, half elements without text.
"""
import gzip
import json
import random
import sys
import uuid


class Site:
    """The design of a host, and the titles of its latest pages."""

    def __init__(self, host, more):
        rng = random.Random(host)
        word = lambda: "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 3)))
        phrase = lambda n: " ".join(word() for _ in range(n))
        self.name, self.latest = host.split(".")[0].capitalize() + " " + phrase(2), []
        styles = "".join(f".{word()}-{word()}{{margin:{rng.randint(0, 40)}px;color:#{rng.getrandbits(24):06x};"
                         f"font:{rng.randint(10, 30)}px/1.{rng.randint(2, 8)} {word()},sans-serif}}\n" for _ in range(90))
        settings = json.dumps({word() + str(i): {"id": rng.getrandbits(48), "of": [word() for _ in range(6)]} for i in range(110)})
        self.head = (f"<style>{styles}</style>\n<script>window.settings={settings};</script>\n</head><body>\n"
                     f"<header><a href='/'>{self.name}</a><nav><ul>\n" + "".join(
                         f"<li class='menu-{word()}'><a href='/{word()}/{word()}'>{phrase(rng.randint(1, 4))}</a></li>\n" for _ in range(60)) +
                     "</ul></nav></header>\n")
        self.foot = "<footer><ul>" + "".join(f"<li><a href='/{word()}'>{phrase(3)}</a></li>\n" for _ in range(30)) + \
            f"</ul><p>{phrase(25).capitalize()}.</p></footer>\n</body></html>\n"
        if more:
            parts = [lambda: f".{word()}>.{word()}{{padding:{rng.randint(0, 40)}px;background:#{rng.getrandbits(24):06x}}}\n",
                     lambda: f"function {word()}{rng.getrandbits(16)}(a){{return a.{word()}({rng.getrandbits(32)},'{word()}')}}\n",
                     lambda: f"<div class='{word()} {word()}'><span class='{word()}-{word()}' data-id='{rng.getrandbits(32)}'>"
                             f"</span><img src='/{word()}/{word()}.svg' alt=''></div>\n"]
            many = lambda part, size: "".join(part() for _ in range(int(size / len(part()))))
            self.head = (f"<style>{many(parts[0], more / 5)}</style>\n<script>{many(parts[1], more * .3)}</script>\n" +
                         self.head + f"<section>{many(parts[2], more / 2)}</section>\n")

    def page(self, text):
        sentences = text.rstrip(".").split(". ")
        title = " ".join(sentences[0].split()[:8])
        paragraphs = "".join(f"<p>{'. '.join(sentences[i:i + 4])}.</p>\n" for i in range(0, len(sentences), 4))
        links = "".join(f"<li class='story'><a href='{path}'><img src='/i{path}.jpg' alt=''>{of}</a></li>\n" for path, of in self.latest)
        return (f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title} | {self.name}</title>\n{self.head}"
                f"<main><article><h1>{title}</h1>\n{paragraphs}</article></main>\n<aside><ul>{links}</ul></aside>\n{self.foot}"), title


def main():
    sites, number, more = {}, int(sys.argv[3]), 1000 * int(sys.argv[4]) if len(sys.argv) > 4 else 0
    with open(sys.argv[1], "wb") as first, open(sys.argv[2], "wb") as later:
        for i, line in enumerate(sys.stdin):
            uri, text = line.rstrip("\n").split("\t")
            _, _, host, path = uri.split("/", 3)
            site = sites.get(host) or sites.setdefault(host, Site(host, more))
            page, title = site.page(text)
            site.latest = site.latest[-19:] + [("/" + path, title)]
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page.encode()
            head = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, uri)}>\r\n"
                    f"WARC-Target-URI: {uri}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
                    f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n")
            (first if i < number else later).write(gzip.compress(head.encode() + block + b"\r\n\r\n", 3, mtime=0))


if __name__ == "__main__":
    main()
