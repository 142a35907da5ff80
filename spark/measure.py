"""Runs a plan of `neardup spark` in one process of Spark and prints what each step cost.

    neardup spark --output OUT ARCHIVE...
    python spark/measure.py NEARDUP OUT

Seconds are those of processors, user and system: of the filters (Go), of the Python
processes of tasks and of the driver, and of the JVM. Bytes are those of the files that
the step wrote.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for the processes of tasks
os.environ["PYSPARK_PYTHON"] = sys.executable

from neardup_spark import driver
from pyspark import SparkConf, SparkContext


def process_seconds(pid: int) -> float:
    """Returns the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    binary, output = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
    conf = SparkConf().setMaster("local[2,4]").setAppName("neardup").set("spark.ui.enabled", "false")
    began = time.monotonic()
    sc = SparkContext(conf=conf)
    sc.addFile(str(binary))
    jvm = sc._gateway.proc.pid  # type: ignore[union-attr]
    last = {"jvm": 0.0, "driver": 0.0}
    total = {"go": 0.0, "python": 0.0, "jvm": 0.0, "bytes": 0.0}

    def row(name: str, tasks: object, seconds: dict[str, float], peak: float) -> None:
        cells = [name, tasks, *(f"{seconds[key]:.1f}" for key in ("go", "python", "jvm")), f"{peak / 1e6:.0f}", f"{seconds['bytes'] / 1e6:.1f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)

    peaks = []

    def report(_: int, step: dict[str, Any], stats: dict[str, float] | None) -> None:
        now = {"jvm": process_seconds(jvm), "driver": time.process_time()}
        spent = {key: now[key] - last[key] for key in now}
        last.update(now)
        if stats is None:
            return
        files = driver.read_done(output, step["id"]) or {}
        seconds = {"go": stats["filter_cpu_seconds"], "python": stats["python_cpu_seconds"] + spent["driver"], "jvm": spent["jvm"], "bytes": float(sum(files.values()))}
        for key in total:
            total[key] += seconds[key]
        peaks.append(stats["filter_peak_bytes"])
        row(step["name"].partition(":")[0], step["tasks"], seconds, peaks[-1])

    print("| step | tasks | Go, s | Python, s | JVM, s | largest filter, MB | written, MB |\n|---|---|---|---|---|---|---|")
    driver.run(sc, binary.name, output, report)
    if peaks:
        row("all", "", total, max(peaks))
    print(f"\n{time.monotonic() - began:.0f} s elapsed")
    sc.stop()


if __name__ == "__main__":
    main()
