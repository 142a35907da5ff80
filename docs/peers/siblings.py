#!/usr/bin/env python3
"""A labelled set of pages of one pattern on one site, such as an article of a shop in each size.

usage: siblings.py NAME [SITES]      writes NAME.warc.gz, NAME.pages.tsv and NAME.truth.tsv

Each of 60 SITES has three siblings of one of six patterns, and twelve pages of other stories. Siblings differ in a
number, a version, a date or a name, in title and text. Of each sibling there is a copy at another address, with a
sentence changed, and of every second site a page is kept up to date: its year changes, and its address. On a third of
the sites the title is that of the site, above an h1. Each site has words of its own. Copies are near-duplicates, and
nothing else is.
"""
import collections
import html
import re
import sys

from reports import name, number, random, record

WORDS = "harbour council museum river garden school market bridge theatre station library forest island valley".split()
DOINGS = "opens closes repairs plans visits paints measures sells lends cleans counts moves".split()
ALSO = ["Ask for offers by the hundred.", "Write to us with questions.", "This page is looked after by one of us.",
        "All of it may be passed on."]


def story():
    """A page of its own."""
    who, what = name(), random.choice(WORDS)
    return f"{who} {random.choice(DOINGS)} the {what}", [
        f"{name()} {random.choice(DOINGS)} the {random.choice(WORDS)} near {name()}, and {name()} {random.choice(DOINGS)} what {name()} left."
        for _ in range(random.randint(6, 12))]


def bolts(n):
    size, length = ["M5", "M6", "M8", "M10", "M12"][n], [20, 30, 40, 50, 60][n]
    return f"Hex bolt {size} x {length}", [
        f"Hex bolt {size} x {length} of steel, zinc plated, with a full thread and a flat head for all common spanners.",
        "It holds beams, hinges, brackets and rails in dry rooms, and outside where it is painted after it was set.",
        f"Take washers for {size}, and let the thread of {length} mm stand out a little behind the nut.",
        "We send parcels on each day of work before noon, and take back what was not opened within four weeks."]


def releases(n):
    v = f"2.{n + 3}.1"
    return f"Kestrel {v}", [
        f"Kestrel {v} is there. It mends faults that were found since the last version, and changes no settings.",
        "All who use it on servers should take it soon, since one of the faults lets strangers stop the service.",
        f"Packages of {v} for all systems are on the page of downloads, with signatures and a list of all changes.",
        "Thanks to all who found, told and mended faults, and to those who host the pages and the tests."]


def draws(n):
    day = f"{n + 11:02d}.03.2026"
    return f"Draw of {day}", [
        f"These are the numbers of the draw of {day}: {', '.join(str(random.randint(1, 49)) for _ in range(6))}, and the extra number {random.randint(0, 9)}.",
        "Who has all six wins the first prize, who has five and the extra number the second.",
        f"Prizes of the draw of {day} can be had at each shop with the sign of the lottery within thirteen weeks.",
        "Play with care: it can make you ill, and nobody under eighteen may take part."]


def functions(n):
    verb, other = ["push", "insert", "append", "merge", "splice"][n], ["insert", "append", "merge", "splice", "push"][n]
    return f"{verb} of a list", [
        f"The function {verb} takes a list and a value, and returns a new list. {verb} never changes the list that is given.",
        "Time is in proportion to the length of the list. If there is no memory left, the program ends with a message.",
        f"It is safe to call {verb} from several threads, as long as each has a list of its own. See also: {other}."]


def minutes(n):
    month = ["January", "February", "March", "April", "May"][n]
    return f"Minutes of {month}", [
        f"The board met in {month} in the small hall. The chair opened the meeting, and the minutes of the last one were approved.",
        "The treasurer gave an account of what came in and what went out, and nobody had a question.",
        f"The {month} walk was well attended again. The next one will be announced on the board in the hall.",
        "There being nothing else, the chair thanked all who were there, and closed the meeting."]


def staff(n):
    who = ["Ina Brook", "Tom Field", "Eva Stone", "Max Wood", "Lea Hill"][n]
    return f"Dr {who}", [
        f"Dr {who} teaches and does research at the institute, in the group that works on soils and water.",
        "Students are welcome with their questions after the lectures, or by appointment at the office.",
        f"Mail for {who} goes to the address of the institute. Please give your name, your course and your year.",
        "The institute has moved into the new house by the park, and the entrance is on the north side."]


def guide(year):
    """A page that is kept up to date."""
    return f"Rooms for students {year}", [
        f"This is the guide to rooms for students in {year}. It is kept by the office, and printed at the start of the term.",
        "Rooms in the houses of the university are given out by lot. Write to the office before the end of the term before.",
        "Rooms in the town are on the board in the main building. Look at a room before you sign, and ask what is paid besides.",
        f"The office is open on each day of work in {year}, and has a list of those who let rooms to students."]


def spoken(site, lines, subjects):
    """The lines with the site's words for all but the subjects."""
    return [re.sub(r"[a-z]{3,}", lambda m: m[0] if m[0] in subjects else site["words"][m[0]], line) for line in lines]


def page(site, title, lines):
    links = "".join(f"<li><a href=/{w.lower()}>{w}</a>" for w in site["links"])
    shown = title if site["titled"] else site["name"]
    return (f"<!doctype html><html lang=en><head><title>{html.escape(shown)}</title></head><body><header><div>{site['name']}</div>"
            f"<nav><ul>{links}</ul></nav></header><main><h1>{html.escape(title)}</h1>{''.join(f'<p>{x}</p>' for x in lines)}</main>"
            f"<footer><p>{site['about']}</p></footer></body></html>")


def main():
    out, sites = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    patterns = [bolts, releases, draws, functions, minutes, staff]
    pages, same = [], []
    for i in range(sites):
        site = {"host": f"{name().lower()}{i}.test", "name": f"{name()} {name()}", "links": [name() for _ in range(10)], "titled": i % 3 > 0, "words": collections.defaultdict(lambda: name().lower()),
                "about": f"{name()} {name()} keeps these pages for {name()} and {name()}."}
        put = lambda path, title, lines: pages.append((f"http://{site['host']}/{path}", page(site, title, lines))) or pages[-1][0]
        pattern = patterns[i // 3 % 6]
        subjects = set(" ".join(pattern(n)[0] for n in range(5)).split())
        for n in random.sample(range(5), 3):
            title, lines = pattern(n)
            lines = spoken(site, lines, subjects)
            copied = list(lines)
            copied[-1] += " " + random.choice(ALSO)
            same.append([put(f"{n}", title, lines), put(f"print/{n}", title, copied)])
        for n in range(12):
            put(f"story/{n}", *story())
        kept = lambda year: (guide(year)[0], spoken(site, guide(year)[1], set()))
        if i % 2:
            same.append([put("2024/rooms", *kept(2024)), put("2025/rooms", *kept(2025))])
    random.shuffle(pages)
    identities = {}
    with open(out + ".warc.gz", "wb") as f:
        for uri, text in pages:
            identities[uri], b = record(uri, text)
            f.write(b)
    with open(out + ".pages.tsv", "w") as f:
        for uri, _ in pages:
            f.write(f"<{identities[uri]}>\t{uri}\t\t\t\t\n")
    with open(out + ".truth.tsv", "w") as f:
        for a, b in same:
            f.write("<{}>\t<{}>\t1\n".format(*sorted([identities[a], identities[b]])))


if __name__ == "__main__":
    main()
