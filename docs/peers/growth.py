#!/usr/bin/env python3
"""How time and memory of each stage grow with the crawl: about 10,000, 30,000 and 100,000 pages.

usage: growth.py [--rounds N] [--cpus 0,1] [--sizes 10000,30000,100000] [--json FILE]
                 [--svg FILE] [--time wall|cpu] --workspace DIR NEARDUP WARCS
       growth.py --read FILE [--svg FILE] [--time wall|cpu]

WARCS is a directory with a crawl of each Debian package below, PACKAGE-00000.warc.gz as wget names them. Every
stage is a process of its own, pinned; a round takes all sizes, and the order turns from round to round. The
tables have medians; of peak memory the greatest. --read prints and plots what --json wrote.
"""
import argparse
import glob
import gzip
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

# Each size has all packages of the sizes before it. Help is of one template in many languages (partly not
# translated), references are of APIs, most in several versions, guides are in many languages each. Of every 100
# pages 65 to 74 are help, 15 to 25 reference and 5 to 15 guides, with 12 to 13 KB of HTML and about 3,000
# characters of text a page at each size. What a mix cannot keep equal is how alike the pages of a package are:
# openjdk-17-doc has several times as many pairs to compare as the others, and is in the largest crawl only.
PACKAGES = {
    10_000: {
        "help": "libreoffice-help-de libreoffice-help-en-us libreoffice-help-ja",
        "reference": "llvm-13-doc llvm-14-doc",
        "guides": "installation-guide-amd64",
    },
    30_000: {
        "help": "libreoffice-help-en-gb libreoffice-help-fr libreoffice-help-pl libreoffice-help-ru "
                "libreoffice-help-zh-cn",
        "reference": "llvm-15-doc llvm-16-doc libboost1.74-doc",
        "guides": "installation-guide-arm64",
    },
    100_000: {
        "help": "libreoffice-help-cs libreoffice-help-da libreoffice-help-el libreoffice-help-es libreoffice-help-et "
                "libreoffice-help-eu libreoffice-help-fi libreoffice-help-gl libreoffice-help-hi libreoffice-help-hu "
                "libreoffice-help-id libreoffice-help-it libreoffice-help-km libreoffice-help-ko libreoffice-help-nl "
                "libreoffice-help-pt libreoffice-help-pt-br libreoffice-help-sl libreoffice-help-sv "
                "libreoffice-help-tr libreoffice-help-zh-tw",
        "reference": "libboost1.81-doc openjdk-17-doc",
        "guides": "installation-guide-i386",
    },
}
STAGES = ["extract", "sign", "cluster", "verify", "export"]
ALL = "all"  # the stages together


def html_bytes(path):
    """The bytes of the responses in a file of wget, with their HTTP headers."""
    total = 0
    with gzip.open(path) as f:
        response, length = False, 0
        while line := f.readline():
            if line.startswith(b"WARC-Type:"):
                response = line.split()[1] == b"response"
            elif line.startswith(b"Content-Length:"):
                length = int(line.split()[1])
            elif not line.strip() and length:
                f.seek(length, os.SEEK_CUR)
                total += length * response
                length = 0
    return total


def sizes(o):
    """The sizes asked for: the kinds' packages, their files, the bytes of their HTML."""
    found, kinds = {}, {}
    for size, added in PACKAGES.items():
        for kind, names in added.items():
            kinds[kind] = kinds.get(kind, []) + names.split()
        files = []
        for name in sum(kinds.values(), []):
            here = sorted(glob.glob(os.path.join(glob.escape(o.warcs), name + "-0*.warc.gz")))
            if not here:
                sys.exit(f"{o.warcs}: no {name}-00000.warc.gz")
            files += here
        if size in o.sizes:
            found[size] = {"kinds": {k: list(v) for k, v in kinds.items()}, "files": files}
    known = {}
    for s in found.values():
        for f in s["files"]:
            if f not in known:
                known[f] = html_bytes(f)
        s["html_bytes"] = sum(known[f] for f in s["files"])
        s["archive_bytes"] = sum(os.path.getsize(f) for f in s["files"])
    return found


def run(o, stage, files):
    """Seconds, processor seconds and peak memory in MiB of a stage."""
    command = ["taskset", "-c", o.cpus, o.neardup, stage, "--workspace", o.workspace]
    if stage == "export":
        command += ["--output", os.path.join(o.workspace, "clusters.jsonl")]
    else:
        command += ["--progress", "none", "--workers", str(len(o.cpus.split(",")))]
    start = time.perf_counter()
    p = subprocess.Popen(command + files, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    wall = time.perf_counter() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {p.returncode}")
    return {"stage": stage, "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024}


def counts(o):
    """What the stages counted, as status tells it."""
    command = [o.neardup, "status", "--workspace", o.workspace, "--json"]
    status = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {s["stage"]: s.get("counts", {}) for s in status["stages"]}


def stored(workspace):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(workspace) for f in names)


def measure(o):
    found = sizes(o)
    data = {"cpus": o.cpus, "sizes": {}, "runs": []}
    order = list(found)
    for n in range(o.rounds):
        turn = n % len(order)
        for size in order[turn:] + order[:turn]:
            s = found[size]
            shutil.rmtree(o.workspace, ignore_errors=True)
            rows = [run(o, stage, s["files"] if stage == "extract" else []) for stage in STAGES]
            total = {"stage": ALL, "peak": max(r["peak"] for r in rows)}
            total.update((k, sum(r[k] for r in rows)) for k in ["wall", "cpu"])
            data["runs"] += [{"round": n, "size": size} | r for r in rows + [total]]
            if size not in data["sizes"]:
                data["sizes"][size] = {"kinds": s["kinds"], "html_bytes": s["html_bytes"],
                                       "archive_bytes": s["archive_bytes"], "workspace_bytes": stored(o.workspace),
                                       "counts": counts(o)}
            print(f"round {n + 1} of {o.rounds}, {size:,}: {total['wall']:.1f} s, {total['cpu']:.1f} of processors, "
                  f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    shutil.rmtree(o.workspace, ignore_errors=True)
    return data


class Results:
    """The figures of a measurement, by stage and size."""

    def __init__(self, data):
        self.sizes = {int(k): v for k, v in sorted(data["sizes"].items(), key=lambda s: int(s[0]))}
        self.runs, self.cpus = data["runs"], data["cpus"]
        self.rounds = 1 + max(r["round"] for r in self.runs)

    def pages(self, size):
        return self.sizes[size]["counts"]["extract"]["documents"]

    def values(self, stage, size, what):
        return [r[what] for r in self.runs if r["stage"] == stage and r["size"] == size]

    def page(self, stage, size, what="wall"):
        """Milliseconds a page, median."""
        return 1000 * statistics.median(self.values(stage, size, what)) / self.pages(size)

    def ratio(self, stage, size, what="wall"):
        """To the smallest size."""
        return self.page(stage, size, what) / self.page(stage, next(iter(self.sizes)), what)

    def peak(self, stage, size):
        return max(self.values(stage, size, "peak"))


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def tables(r):
    sizes, first = list(r.sizes), next(iter(r.sizes))
    pages = [f"{r.pages(s):,} pages" for s in sizes]
    what = {
        "packages": lambda s, c: ", ".join(f"{k} {len(v)}" for k, v in s["kinds"].items()),
        "MB of gzip": lambda s, c: f"{s['archive_bytes'] / 1e6:,.0f}",
        "KB of HTML a page": lambda s, c: f"{s['html_bytes'] / 1e3 / c['extract']['documents']:.1f}",
        "distinct texts": lambda s, c: f"{c['extract']['texts']:,}",
        "signatures a page": lambda s, c: f"{c['sign']['signatures'] / c['extract']['documents']:.1f}",
        "perhaps-similar sets": lambda s, c: f"{c['cluster']['sets']:,}",
        "texts in them": lambda s, c: f"{c['cluster']['members']:,}",
        "the largest": lambda s, c: f"{c['cluster']['largest_set']:,}",
        "pairs compared": lambda s, c: f"{c['verify']['pairs']:,}",
        "a page": lambda s, c: f"{c['verify']['pairs'] / c['extract']['documents']:.2f}",
        "of these rejected by length": lambda s, c: f"{c['verify']['rejected_by_length']:,}",
        "by sketch": lambda s, c: f"{c['verify']['rejected_by_sketch']:,}",
        "by edit distance": lambda s, c: f"{c['verify']['rejected_by_distance']:,}",
        "by score": lambda s, c: f"{c['verify']['rejected_by_score']:,}",
        "near": lambda s, c: f"{c['verify']['near']:,}",
        "KB of workspace a page": lambda s, c: f"{s['workspace_bytes'] / 1e3 / c['extract']['documents']:.1f}",
    }
    yield row("what", *pages)
    yield "|---" * (1 + len(sizes)) + "|"
    for name, of in what.items():
        yield row(name, *(of(r.sizes[s], r.sizes[s]["counts"]) for s in sizes))
    for key, title in [("wall", "ms a page"), ("cpu", "processor ms a page")]:
        yield ""
        yield row(title, *pages, *(f"{r.pages(s):,} to {r.pages(first):,}" for s in sizes[1:]))
        yield "|---" * (2 * len(sizes)) + "|"
        for stage in STAGES + [ALL]:
            yield row(stage, *(f"{r.page(stage, s, key):.3f}" for s in sizes),
                      *(f"{r.ratio(stage, s, key):.2f}" for s in sizes[1:]))
    yield ""
    yield row("peak memory, MiB", *pages)
    yield "|---" * (1 + len(sizes)) + "|"
    for stage in STAGES:
        yield row(stage, *(f"{r.peak(stage, s):.0f}" for s in sizes))


# Colours that differ for the colour-blind, too (Okabe and Ito), and marks that differ without any.
COLOURS = {"extract": "#0072b2", "sign": "#e69f00", "cluster": "#009e73", "verify": "#d55e00", "export": "#cc79a7",
           ALL: "#333333"}
WIDTH, HEIGHT = 330, 300  # of a panel's plot
LEFT, TOP, GAP, BOTTOM, RIGHT = 62, 84, 92, 64, 24


def svg(r, key):
    stages, sizes = STAGES + [ALL], list(r.sizes)
    time_a_page = {"wall": "time a page", "cpu": "processor time a page"}[key]
    panels = [
        (time_a_page, "ms", stages, lambda stage, s: r.page(stage, s, key), True, None),
        ("the same, relative to the smallest crawl", "", stages, lambda stage, s: r.ratio(stage, s, key), False,
         (1.25, "1.25")),
        ("peak memory", "MiB", STAGES, lambda stage, s: r.peak(stage, s), False, (1024, "1 GiB")),
    ]
    width = LEFT + len(panels) * WIDTH + (len(panels) - 1) * GAP + RIGHT
    height = TOP + HEIGHT + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#333">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def text(x, y, s, anchor="start", extra=""):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{s}</text>')

    def line(x1, y1, x2, y2, colour, extra=""):
        out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" fill="none"{extra}/>')

    def mark(stage, x, y):
        c, f = COLOURS[stage], f'fill="{COLOURS[stage]}" stroke="#fff"'
        shapes = {
            "extract": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {f}/>',
            "sign": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {f}/>',
            "cluster": f'<path d="M{x:.1f} {y - 5.5:.1f}l5.2 9h-10.4z" {f}/>',
            "verify": f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" {f}/>',
            "export": f'<path d="M{x:.1f} {y + 5.5:.1f}l5.2 -9h-10.4z" {f}/>',
            ALL: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#fff" stroke="{c}" stroke-width="2"/>',
        }
        out.append(shapes[stage])

    # The legend, in one row.
    x = LEFT
    for stage in stages:
        line(x, 22, x + 26, 22, COLOURS[stage], ' stroke-width="2"')
        mark(stage, x + 13, 22)
        text(x + 33, 26.5, {ALL: "all stages"}.get(stage, stage))
        x += 110
    how = "one run" if r.rounds == 1 else f"medians of {r.rounds} runs, greatest peaks"
    text(width - RIGHT, 26.5, f"{how}; processors {r.cpus}", "end", ' fill="#777"')

    lo, hi = math.log(r.pages(sizes[0])), math.log(r.pages(sizes[-1]))
    for i, (title, unit, rows, of, logarithmic, limit) in enumerate(panels):
        left = LEFT + i * (WIDTH + GAP)
        values = [of(stage, s) for stage in rows for s in sizes]
        if logarithmic:
            bottom, top = 10 ** math.floor(math.log10(min(values)) + .2), max(values) * 1.5
            while bottom > min(values) / 1.2:
                bottom /= 2
            ticks = [m * 10 ** e for e in range(-6, 7) for m in (1, 2, 5)]
        else:
            bottom, top = 0, max(max(values), limit[0] if limit else 0) * 1.12
            steps = [128 * 2 ** n for n in range(8)] if unit == "MiB" else [
                m * 10 ** e for e in range(-3, 6) for m in (1, 2, 2.5, 5)]
            step = next(s for s in steps if top / s <= 9)
            ticks = [n * step for n in range(10)]

        def place(v):
            part = math.log(v / bottom) / math.log(top / bottom) if logarithmic else (v - bottom) / (top - bottom)
            return TOP + HEIGHT * (1 - part)

        def across(s):
            part = (math.log(r.pages(s)) - lo) / (hi - lo) if hi > lo else .5
            return left + 22 + (WIDTH - 44) * part

        text(left, TOP - 14, title + (f", {unit}" if unit else ""), extra=' font-size="14" font-weight="bold"')
        for tick in ticks:
            if bottom * .999 <= tick <= top * 1.001:
                line(left, place(tick), left + WIDTH, place(tick), "#e4e4e4")
                text(left - 8, place(tick) + 4.5, f"{tick:g}", "end", ' font-size="12"')
        line(left, TOP + HEIGHT, left + WIDTH, TOP + HEIGHT, "#888")
        for s in sizes:
            line(across(s), TOP + HEIGHT, across(s), TOP + HEIGHT + 5, "#888")
            text(across(s), TOP + HEIGHT + 20, f"{r.pages(s):,}", "middle", ' font-size="12"')
        text(left + WIDTH / 2, TOP + HEIGHT + 42, "pages (logarithmic)", "middle", ' font-size="12" fill="#777"')
        if limit:
            y, red = place(limit[0]), "#b00020"
            line(left, y, left + WIDTH, y, red, ' stroke-width="1.5" stroke-dasharray="6 4"')
            text(left + 4, y - 6, limit[1], extra=f' fill="{red}" font-size="12"')
        for stage in rows:
            points = " ".join(f"{across(s):.1f},{place(of(stage, s)):.1f}" for s in sizes)
            out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[stage]}" stroke-width="2" '
                       'stroke-linejoin="round"/>')
        for stage in rows:
            for s in sizes:
                mark(stage, across(s), place(of(stage, s)))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("neardup", nargs="?")
    p.add_argument("warcs", nargs="?")
    p.add_argument("--workspace", help="a directory that is not there yet; made anew for each run, and removed")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cpus", default="0,1", help="as taskset has it; as many workers")
    p.add_argument("--sizes", default=",".join(map(str, PACKAGES)))
    p.add_argument("--json", help="write every figure of every run")
    p.add_argument("--read", help="print and plot these figures, measure nothing")
    p.add_argument("--svg", help="write the plot")
    p.add_argument("--time", choices=["wall", "cpu"], default="wall", help="what the plot shows")
    o = p.parse_args()
    if o.read:
        with open(o.read, encoding="utf-8") as f:
            data = json.load(f)
    else:
        if not (o.neardup and o.warcs and o.workspace):
            p.error("NEARDUP, WARCS and --workspace, or --read")
        if os.path.exists(o.workspace):
            p.error(f"{o.workspace}: there already")
        o.neardup, o.sizes = os.path.abspath(o.neardup), [int(s) for s in o.sizes.split(",")]
        if unknown := set(o.sizes) - set(PACKAGES):
            p.error(f"--sizes: {unknown}, not among {list(PACKAGES)}")
        data = measure(o)
        if o.json:
            with open(o.json, "w", encoding="utf-8") as f:
                json.dump(data, f, indent=1)
    results = Results(data)
    print(f"{results.rounds} round{'s' * (results.rounds > 1)}, processors {results.cpus}\n")
    print("\n".join(tables(results)))
    if o.svg:
        with open(o.svg, "w", encoding="utf-8") as f:
            f.write(svg(results, o.time))


if __name__ == "__main__":
    main()
