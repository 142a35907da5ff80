#!/usr/bin/env python3
"""A labelled set of pages that were captured again with little changed, where little says so.

usage: recaptures.py NAME [EACH]      writes NAME.warc.gz, NAME.pages.tsv and NAME.truth.tsv

There are EACH (20) pages of each of these kinds, captured twice:
  menu        twenty dishes of two words, of which four have another price
  notice      two long sentences, and a counter
  notes       an article with the numbers of notes, which one more note shifts
  thread      eight posts whose elements are named comments, in another order
  article     a story with comments that are named so, of which there are more and more
And there are EACH of these:
  topic       a page at twelve addresses with session ids, each time with another line
  calendar    three months on a site of their own, with the same lines but for days; no two are near-duplicates
"""
import html
import sys

from reports import name, number, random, record

SAY = "said found lost sold built moved closed opened painted counted".split()


def sentence(words=12):
    return f"{name()} {random.choice(SAY)} " + " ".join(name().lower() for _ in range(words - 2)) + "."


def paragraph(sentences=3):
    return " ".join(sentence() for _ in range(sentences))


def page(site, title, body):
    links = "".join(f"<li><a href=/{w.lower()}>{w}</a>" for w in site["links"])
    return (f"<!doctype html><html lang=en><head><title>{html.escape(title)}</title></head><body><header><div>{site['name']}</div>"
            f"<nav><ul>{links}</ul></nav></header><main><h1>{html.escape(title)}</h1>{body}</main>"
            f"<footer><p>{site['about']}</p></footer></body></html>")


def menu():
    dishes = [(f"{name()} {name().lower()}", random.randint(3, 20)) for _ in range(20)]
    show = lambda dishes: "<ul>" + "".join(f"<li>{d} <b>{price}.50</b>" for d, price in dishes) + "</ul>"
    dearer = [(d, price + (i % 5 == 0)) for i, (d, price) in enumerate(dishes)]
    return show(dishes), show(dearer)


def notice():
    says = f"<p>{sentence(30)[:-1]}</p><p>{sentence(28)}</p>"
    return [f"{says}<p>Views: {random.randint(1000, 9999)}</p>" for _ in range(2)]


def notes():
    said = [sentence() for _ in range(8)]
    show = lambda said, first: "<p>" + " ".join(f"{s}<sup>[{i}]</sup>" for i, s in enumerate(said, first)) + "</p>"
    return show(said, 1), f"<p>{sentence()}<sup>[1]</sup></p>" + show(said, 2)


def posts(all):
    return "".join(f'<article id=elComment_{n} class="cPost ipsComment"><aside class=ipsComment_author><h3>{who}</h3><ul><li>Members<li>{n * 17} posts</ul></aside>'
                   f"<div class=ipsComment_content><p><a href=#>Posted March {n}, 2019</a></p><div><p>{text}</p></div></div></article>" for n, who, text in all)


def thread():
    all = [(n, name(), paragraph(random.randint(1, 5))) for n in range(1, 9)]
    return posts(all), posts(random.sample(all, len(all)))


def article():
    says = "".join(f"<p>{paragraph()}</p>" for _ in range(5))
    comments = [f"<li class=comment><b>{name()}</b><p>{paragraph(2)}</p>" for _ in range(14)]
    return [f"{says}<div id=comments><h3>{n} comments</h3><ol>{''.join(comments[:n])}</ol></div>" for n in (2, 14)]


def main():
    out, each = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    pages, same = [], []

    def site():
        return {"host": f"{name().lower()}{len(pages)}.test", "name": f"{name()} {name()}", "links": [name() for _ in range(10)],
                "about": f"{name()} {name()} keeps these pages for {name()} and {name()}."}

    def put(at, path, title, body):
        pages.append((f"http://{at['host']}/{path}", page(at, title, body)))
        return len(pages) - 1

    for kind in (menu, notice, notes, thread, article):
        for i in range(each):
            if i % 4 == 0:
                at = site()
            title = f"{name()} {name()}"
            same.append([put(at, f"{kind.__name__}/{i}", title, body) for body in kind()])
    for i in range(each):
        at, title, says = site(), f"{name()} {name()}", "".join(f"<p>{paragraph()}</p>" for _ in range(6))
        same.append([put(at, f"topic?PHPSESSID={number(10 ** 9, 10 ** 10 - 1)}".replace(",", ""), title, f"{says}<p>{sentence()}</p>") for _ in range(12)])
        at = site()
        events = [f"{name()} {random.choice(SAY)} the {name().lower()} in the hall" for _ in range(14)]
        for month in ("April", "May", "June"):
            put(at, f"calendar/{month}", f"Events in {month}", "<ul>" + "".join(f"<li>{random.randint(1, 30)} at {random.randint(1, 12)}:{random.randint(10, 59)} {e}" for e in events) + "</ul>")
    order = random.sample(range(len(pages)), len(pages))
    identities = {}
    with open(out + ".warc.gz", "wb") as f:
        for n in order:
            identities[n], b = record(*pages[n], str(n))
            f.write(b)
    with open(out + ".pages.tsv", "w") as f:
        for n in order:
            f.write(f"<{identities[n]}>\t{pages[n][0]}\t\t\t\t\n")
    with open(out + ".truth.tsv", "w") as f:
        for captures in same:
            for i, a in enumerate(captures):
                for b in captures[i + 1:]:
                    f.write("<{}>\t<{}>\t1\n".format(*sorted([identities[a], identities[b]])))


if __name__ == "__main__":
    main()
