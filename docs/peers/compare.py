#!/usr/bin/env python3
"""Runs commands in turns, pinned to processors, and prints medians with least and greatest.

usage: compare.py [--cpus 0] [--rounds 5] [--warm 1] [--rates MB/s,pages/s] [--json FILE] NAME=COMMAND...

Every round runs each command once, so that what else the machine does hits all of them alike; the order turns
from round to round. What a command measures itself is read from its standard output: lines of JSON with a
"name", and lines of go test -bench. The first table has these; the second has every command as a
process: seconds, processor seconds of all its processes, peak memory of the largest.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = re.compile(r"^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+(.*\S)\s*$")


def measured(line):
    """Name and figures of an output line, or None."""
    if line.startswith("{"):
        try:
            row = json.loads(line)
        except ValueError:
            return None
        name = row.pop("name", None)
        return (name, {k: v for k, v in row.items() if isinstance(v, (int, float))}) if name else None
    if m := BENCH.match(line):
        words = m[2].split()
        try:
            return m[1].removeprefix("Benchmark"), {unit: float(value) for value, unit in zip(words[::2], words[1::2])}
        except ValueError:
            return None
    return None


def run(command, cpus):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        p = subprocess.Popen(["taskset", "-c", cpus, "sh", "-c", command], stdout=out, stderr=err, text=True)
        _, status, usage = os.wait4(p.pid, 0)
        wall = time.perf_counter() - start
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if p.returncode != 0:
            sys.exit(f"{command}: exit code {p.returncode}\n{out.read()[-2000:]}{err.read()[-2000:]}")
        rows = [r for line in out if (r := measured(line.strip()))]
    return rows, {"s": wall, "processor s": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}


def number(x):
    if x == 0 or abs(x) >= 1000:
        return f"{x:,.0f}"
    return f"{x:.3g}" if abs(x) < 100 else f"{x:.0f}"


def cell(values):
    if not values:
        return ""
    low, high = number(min(values)), number(max(values))
    return number(statistics.median(values)) + ("" if low == high else f" ({low} to {high})")


def table(title, rows, units):
    names = list(dict.fromkeys(name for name, _ in rows))
    lines = [f"| {title} | " + " | ".join(units) + " |", "|---|" + "---|" * len(units)]
    for name in names:
        cells = [cell([figures[u] for n, figures in rows if n == name and u in figures]) for u in units]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("command", nargs="+", metavar="NAME=COMMAND")
    p.add_argument("--cpus", default="0", help="as taskset has it")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--warm", type=int, default=1, help="rounds before, not counted")
    p.add_argument("--rates", default="MB/s,pages/s", help="figures of the first table")
    p.add_argument("--json", help="write every figure of every run")
    o = p.parse_args()
    commands = []
    for c in o.command:
        name, found, command = c.partition("=")
        if not found:
            p.error(f"{c}: not NAME=COMMAND")
        if name in dict(commands):
            p.error(f"{name}: named twice")
        commands.append((name, command))
    rates, processes = [], []
    for n in range(-o.warm, o.rounds):
        turn = n % len(commands)
        for name, command in commands[turn:] + commands[:turn]:
            rows, process = run(command, o.cpus)
            if n >= 0:
                rates += [(f"{name}: {own}", figures) for own, figures in rows]
                processes.append((name, process))
        print(f"round {n + 1} of {o.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    order = {name: i for i, (name, _) in enumerate(commands)}
    rates.sort(key=lambda r: order[r[0].split(": ", 1)[0]])
    processes.sort(key=lambda r: order[r[0]])
    print(f"{o.rounds} rounds, processors {o.cpus}\n")
    if rates:
        print(table("measured by itself", rates, o.rates.split(",")) + "\n")
    print(table("process", processes, ["s", "processor s", "MB"]))
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"rates": rates, "processes": processes}, f, indent=1)


if __name__ == "__main__":
    main()
