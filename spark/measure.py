"""Runs plans of `neardup spark` in one process of Spark and prints what each step cost.

    neardup spark --output OUT ARCHIVE...
    python spark/measure.py NEARDUP OUT...

Seconds are those of processors, user and system: of the filters (Go), of the Python
processes of tasks and of the driver, and of the JVM. Memory is the peak of a process, by
GNU time: of the step's filter, and of the filter sort. Bytes are those of the files that
the step wrote.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for the processes of tasks
os.environ["PYSPARK_PYTHON"] = sys.executable

from neardup_spark import driver
from pyspark import SparkContext

HEAD = """| step | tasks | Go, s | Python, s | JVM, s | filter, MB | sort, MB | written, MB |
|---|---|---|---|---|---|---|---|"""


def process_seconds(pid: int) -> float:
    """Returns the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Meter:
    """Prints what each step cost since the one before."""

    def __init__(self, output: str, jvm: int, peaks: Path) -> None:
        self.output, self.jvm, self.peaks = output, jvm, peaks
        self.total, self.largest = [0.0] * 4, [0.0] * 2
        self.used()

    def used(self) -> tuple[float, float]:
        """Returns the seconds of the JVM and of the driver since the last call."""
        now = process_seconds(self.jvm), time.process_time()
        last, self.last = getattr(self, "last", now), now
        return now[0] - last[0], now[1] - last[1]

    def report(self, _: int, step: driver.Step, stats: driver.Stats | None) -> None:
        jvm, own = self.used()
        if stats is None:
            return
        peaks = [0.0, 0.0]
        for log in self.peaks.iterdir():  # one for each process
            i = log.name.startswith("sort-")
            peaks[i] = max(peaks[i], float(log.read_text().split()[-1]) * 1024)
            log.unlink()
        written = sum((driver.read_done(self.output, step["id"]) or {}).values())
        cost = [stats["filter_cpu_seconds"], stats["python_cpu_seconds"] + own, jvm, float(written)]
        self.total = [a + b for a, b in zip(self.total, cost)]
        self.largest = [max(a, b) for a, b in zip(self.largest, peaks)]
        self.row(step["name"].partition(":")[0], step["tasks"], cost, peaks)

    def row(self, name: str, tasks: object, cost: list[float], peaks: list[float]) -> None:
        cells = [name, str(tasks), *(f"{s:.2f}" for s in cost[:3]), *(f"{b / 1e6:.0f}" for b in peaks), f"{cost[3] / 1e6:.1f}"]
        print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    program, outputs = Path(sys.argv[1]).resolve(), [str(Path(name).resolve()) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as temp:
        peaks, timed = Path(temp, "peaks"), Path(temp, "timed")
        peaks.mkdir()
        timed.write_text(f'#!/bin/sh\nexec /usr/bin/time -f %M -o {peaks}/$2-$$ {program} "$@"\n')
        timed.chmod(0o755)
        began = time.monotonic()
        sc = SparkContext(conf=driver.configured().setMaster("local[2,4]").setAppName("neardup").set("spark.ui.enabled", "false"))
        sc.addFile(str(timed))
        jvm = sc._gateway.proc.pid  # type: ignore[union-attr]
        print(f"Spark: {process_seconds(jvm):.1f} s of the JVM to start")
        for output in outputs:
            print(f"\n{output}\n\n{HEAD}")
            meter = Meter(output, jvm, peaks)
            driver.run(sc, timed.name, output, meter.report)
            meter.row("all", "", meter.total, meter.largest)
            print(f"\n{time.monotonic() - began:.0f} s elapsed", flush=True)
        sc.stop()


if __name__ == "__main__":
    main()
