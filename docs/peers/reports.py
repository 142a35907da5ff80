#!/usr/bin/env python3
"""A labelled set of reports of one pattern: earthquakes, earnings and matches, each on two to four pages.

usage: reports.py NAME [REPORTS [AGENCY]]      writes NAME.warc.gz, NAME.pages.tsv and NAME.truth.tsv

Each of 120 REPORTS has a story of its own: places, names and numbers. What makes it a report, its sentences, it
shares with the others of its kind. Its copies have other headlines, and lack a sentence or have one more, and stand
in the page frames of other sites, each of two to five pages. So no sentence of the pattern is common on any site.
Copies are near-duplicates, and nothing else is. AGENCY is how many sentences about the agency end each report, at most
six; 0 unless given.
"""
import gzip
import hashlib
import random
import sys

random = random.Random(7)

SYLLABLES = "bar dun el fen gor hal ing ker lom mar nor os pel quin ras sol tam ul ver wen yar zel".split()
ABOUT = [
    "This report was written by a program from the figures that were published, and read by an editor.",
    "The agency has reported from the region since it was founded, and has offices in all larger towns.",
    "Readers who find a mistake are asked to write to the desk, which answers on each day of work.",
    "Texts of the agency may be printed by its customers, with its name and without changes.",
    "Pictures and maps to go with the report can be had from the archive of the agency on request.",
    "More reports of this kind are on the pages of the agency, sorted by day, by place and by subject.",
]
MONTHS = "January February March April May June July August September October November December".split()


def name():
    return "".join(random.choices(SYLLABLES, k=random.choice([2, 3]))).capitalize()


def number(low, high, places=0):
    return f"{random.uniform(low, high):.{places}f}"


def earthquake():
    place, sea, town = name(), name(), name()
    size, hour, minute = number(3, 7, 1), number(1, 12), number(10, 59)
    return f"Earthquake of magnitude {size} shakes {place}", [
        f"An earthquake of magnitude {size} was recorded near {place} at {hour}:{minute} local time, the seismological service said.",
        f"The epicentre was {number(10, 200)} kilometres from {town}, at a depth of {number(5, 90)} kilometres.",
        f"Tremors of {number(2, 5)} points were felt in {number(3, 40)} villages along the coast of the {sea} Sea.",
        "No casualties or damage have been reported, and the services are working as usual.",
        f"A threat of a tsunami was not declared after the tremors near {place}.",
        f"Since the beginning of the year {number(100, 900)} earthquakes have been recorded in the region, {number(20, 99)} of them above magnitude 3.",
        "The service reminds residents to keep documents, water and a torch at hand, and to stay away from old buildings.",
    ]


def earnings():
    firm, head = name(), name()
    revenue = number(10, 900, 1)
    return f"{firm} posts quarterly revenue of {revenue} million", [
        f"{firm} reported revenue of {revenue} million for the quarter, compared with {number(10, 900, 1)} million a year earlier.",
        f"Net profit came to {number(1, 90, 1)} million, or {number(.1, 5, 2)} a share, after one-time charges of {number(1, 20, 1)} million.",
        f"The company expects revenue of {number(10, 900)} to {number(10, 900)} million for the full year.",
        f"Operating margin was {number(4, 30, 1)} percent, and free cash flow {number(1, 90, 1)} million.",
        f"Chief executive {head} said that demand remained solid in all regions, and that costs were under control.",
        f"Shares of {firm} moved {number(1, 9, 1)} percent in late trading, and have gained {number(10, 60, 1)} percent this year.",
        "The results were published after the close of the market, and have not been audited.",
    ]


def match():
    home, guest, player = name(), name(), name()
    goals, others = random.choice([(1, 0), (2, 1), (3, 1), (3, 2), (4, 2)])
    return f"{home} beat {guest} {goals}-{others}", [
        f"{home} beat {guest} {goals}-{others} in front of {number(9000, 60000)} spectators on matchday {number(1, 34)}.",
        f"{player} scored in minute {number(1, 45)}, and again in minute {number(46, 90)} after a corner from the left.",
        f"The home side had {number(40, 70)} percent of the ball, {number(8, 25)} shots and {number(3, 14)} corners.",
        f"{guest} had {number(2, 12)} shots, and their keeper made {number(2, 9)} saves in the second half alone.",
        "The coach said that his players had kept calm, and that the next match would decide nothing yet.",
        f"{home} now have {number(10, 70)} points from {number(10, 34)} matches, and stay in place {number(1, 18)} of the table.",
        f"The next match of {home} is on the coming weekend, away from home.",
    ]


def copy(headline, sentences):
    """Another editor's version of a report."""
    headline = random.choice(["", "Update: ", "In brief: ", f"{name()} {name()}: "]) + random.choice(
        [headline, "What we know: " + headline, headline + ", " + random.choice(["agencies say", "report says", "officials confirm"])])
    out = list(sentences)
    if random.random() < .5:
        del out[random.randrange(3, len(out))]
    if random.random() < .5:
        out.insert(random.randrange(2, len(out)), f"Our correspondent {name()} {name()} has followed the events for the {name()} desk.")
    return headline, out


def page(site, headline, sentences, day):
    links = "".join(f"<li><a href=/{w.lower()}>{w}</a>" for w in site["links"])
    text = "".join(f"<p>{' '.join(sentences[i:i + 2])}</p>" for i in range(0, len(sentences), 2))
    return (f"<!doctype html><html lang=en><head><title>{headline}</title></head><body><nav><ul>{links}</ul></nav>"
            f"<main><h1>{headline}</h1><p class=byline>{day} {random.choice(MONTHS)} 2026, {number(10, 23)}:{number(10, 59)}</p>{text}</main>"
            f"<footer><p>{site['about']}</p></footer></body></html>")


def record(uri, body, capture=""):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body.encode()
    h = hashlib.md5((uri + capture).encode()).hexdigest()
    identity = f"urn:uuid:{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
    head = (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-05-01T00:00:00Z\r\n"
            f"WARC-Record-ID: <{identity}>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n")
    return identity, gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0)


def main():
    out, reports = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120
    about = ABOUT[:int(sys.argv[3])] if len(sys.argv) > 3 else []
    stories = [[earthquake, earnings, match][i % 3]() for i in range(reports)]
    stories = [(headline, sentences + about) for headline, sentences in stories]
    pages = []
    for i, story in enumerate(stories):
        pages.append((i, *story))
        pages += [(i, *copy(*story)) for _ in range(random.choice([1, 1, 2, 3]))]
    random.shuffle(pages)
    sites, left = [], 0
    identities, of = {}, {}
    with open(out + ".warc.gz", "wb") as f:
        for n, (story, headline, sentences) in enumerate(pages):
            if left == 0:
                left = random.choice([2, 3, 4, 5])
                sites.append({"host": f"{name().lower()}{len(sites)}.test", "links": [name() for _ in range(12)],
                              "about": f"The {name()} {name()} writes about {name()} and {name()}, and belongs to the {name()} house."})
            left -= 1
            uri = f"http://{sites[-1]['host']}/{n}"
            identity, b = record(uri, page(sites[-1], headline, sentences, n % 28 + 1))
            f.write(b)
            identities[n] = identity
            of.setdefault(story, []).append(n)
    with open(out + ".pages.tsv", "w") as f:
        for n in range(len(pages)):
            f.write(f"<{identities[n]}>\thttp://{n}\t\t\t\t\n")
    with open(out + ".truth.tsv", "w") as f:
        for same in of.values():
            for i, a in enumerate(same):
                for b in same[i + 1:]:
                    f.write("<{}>\t<{}>\t1\n".format(*sorted([identities[a], identities[b]])))


if __name__ == "__main__":
    main()
