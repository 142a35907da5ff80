"""What the tests of whole runs share: the program, archives, and a cluster."""

from __future__ import annotations

import atexit
import functools
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

import pyspark

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
PARTITIONS = 3
FORMATS = ("jsonl", "csv", "edges", "contained")

os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=str(SPARK))
# A run of the tests is too short for Java's second compiler, which would take half of its time.
os.environ.update(JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def texts(path: Path, first: int, families: int) -> Path:
    """Writes a text collection with families of near-duplicates."""
    r = random.Random(first)
    words = ["".join(r.choices("abcdefghijklmnopqrstuvwxyz", k=r.randint(3, 9))) for _ in range(3000)]

    def sentence() -> str:
        return " ".join(r.choices(words, k=r.randint(8, 16))).capitalize() + "."

    with path.open("w") as f:
        for family in range(families):
            base = [sentence() for _ in range(30)]
            for copy in range(5):
                for _ in range(copy):
                    base[r.randrange(len(base))] = sentence()
                f.write(f"urn:text:{first + family}-{copy}\t{' '.join(base)}\n")
    return path


@functools.cache
def built() -> Path:
    """Returns the program neardup, which is built once and removed at the end."""
    temp = tempfile.TemporaryDirectory(prefix="neardup-spark-")
    atexit.register(temp.cleanup)
    program = Path(temp.name) / "neardup"
    subprocess.run(["go", "build", "-o", program, "./cmd/neardup"], cwd=ROOT, check=True)
    return program


class Case(unittest.TestCase):
    """A test in a folder of its own, with the program neardup."""

    folder: Path
    program: Path
    partitions = PARTITIONS

    @classmethod
    def setUpClass(cls) -> None:
        temp = tempfile.TemporaryDirectory(prefix="neardup-spark-")
        cls.addClassCleanup(temp.cleanup)
        cls.folder = Path(temp.name)
        cls.program = built()

    def setUp(self) -> None:
        temp = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(temp.cleanup)
        self.dir = Path(temp.name)
        self.output = self.dir / "output"

    def archives(self) -> list[Path]:
        """Returns archives of pages and texts."""
        return [ROOT / "example" / "crawl.warc.gz", *(texts(self.dir / f"{i}.tsv", 100 * i, 4) for i in range(1, 4))]

    def neardup(self, *args: object, code: int = 0) -> bytes:
        p = subprocess.run([self.program, *map(str, args)], capture_output=True)
        self.assertEqual(p.returncode, code, p.stderr.decode())
        return p.stdout

    def plan(self, archives: list[Path], master: str, *options: str) -> list[str]:
        """Plans a run. Returns the command that the program says to run."""
        said = self.neardup("spark", "--output", self.output, "--partitions", self.partitions, "--master", master, *options, *archives).decode()
        line = next(line for line in said.splitlines() if line.startswith("    spark-submit "))
        return line.replace("'", "").split()

    def command(self, line: list[str], conf: dict[str, str], program: Path | None = None) -> list[str]:
        """Returns the command with settings of Spark, and with another program."""
        settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        words = [str(SPARK / "bin" / "spark-submit"), *settings, *line[1:]]
        if program:
            words[words.index(str(self.program))] = str(program)
            words += ["--binary", program.name]
        return words

    def submit(self, command: list[str], code: int = 0) -> str:
        """Runs a command of Spark. Returns what the driver says."""
        p = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr[-8000:])
        return "".join(line for line in p.stdout.splitlines(True) if line.startswith("neardup: "))

    def same(self, archives: list[Path], *options: str, code: int = 0, formats: tuple[str, ...] = FORMATS) -> None:
        """Compares the exports with those of a run on one machine."""
        self.neardup("spark", "adopt", "--output", self.output, "--workspace", self.dir / "cluster", code=code)
        self.neardup("run", "--workspace", self.dir / "single", "--progress", "none", *options, *archives, code=code)
        for format in formats:
            cluster, single = (self.neardup("export", "--workspace", self.dir / w, "--format", format) for w in ("cluster", "single"))
            self.assertGreater(len(single), 0)
            self.assertEqual(cluster, single, format)

    def same_files(self) -> None:
        """Compares the exports that the cluster wrote with those of one machine."""
        folder = self.output / "exports"
        for format, name in (("jsonl", "clusters-*.jsonl"), ("csv", "clusters-*.csv"), ("contained", "contained-*.jsonl")):
            files = sorted(folder.glob(name))
            self.assertEqual(len(files), self.partitions)
            single = self.neardup("export", "--workspace", self.dir / "single", "--format", format)
            self.assertEqual(b"".join(f.read_bytes() for f in files), single, format)
        for f in folder.glob("clusters-*.parquet"):
            self.assertEqual(f.read_bytes()[-4:], b"PAR1")

    def steps(self) -> list[str]:
        """Returns the steps of the plan."""
        return [step["id"] for step in json.loads((self.output / "plan.json").read_text())["steps"]]

    def done(self) -> dict[str, int]:
        """Returns the finished steps and when they ended."""
        return {p.parent.name: p.stat().st_mtime_ns for p in self.output.glob("steps/*/done.json")}

    def faulty(self, **faults: str) -> Path:
        """Returns a program that stands in for neardup, with faults at filters."""
        folder = self.dir / "faulty"
        (folder / "faults").mkdir(parents=True)
        for name, fault in faults.items():
            (folder / "faults" / name.replace("_", "-")).write_text(fault)
        program = folder / "neardup-faulty"
        source = Path(__file__).with_name("faulty.py").read_text()
        source = source.replace("PROGRAM: str\nFOLDER: str\n", f"PROGRAM = {str(self.program)!r}\nFOLDER = {str(folder)!r}\n")
        program.write_text(f"#!{sys.executable}\n{source}")
        program.chmod(0o755)
        return program

    def log(self) -> list[str]:
        """Returns the filters that the faulty program ran, with their tasks."""
        return (self.dir / "faulty" / "log").read_text().splitlines()

    def assert_taken(self, faults: int) -> None:
        taken = sorted(p.name for p in (self.dir / "faulty" / "faults").iterdir())
        self.assertEqual([name.endswith(".taken") for name in taken], [True] * faults, taken)


# Short times, so that a lost machine is noticed soon. No executor reads files of another.
CLUSTER_CONF = {
    "spark.executor.memory": "512m",
    "spark.shuffle.readHostLocalDisk": "false",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "1s",
    "spark.ui.enabled": "false",
}


class Cluster:
    """A master and workers with one core each, on loopback."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.processes = folder, []  # type: tuple[Path, list[subprocess.Popen[bytes]]]
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = str(s.getsockname()[1])
        self.master = f"spark://127.0.0.1:{port}"
        host = ["--host", "127.0.0.1", "--webui-port", "0"]
        try:
            self.start("master.Master", *host, "--port", port, ready="I have been elected leader")
            for i in range(workers):
                self.start("worker.Worker", *host, "--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{i}"),
                           self.master, ready="Successfully registered with master")
        except BaseException:
            self.stop()
            raise

    def start(self, name: str, *args: str, ready: str) -> None:
        log = self.folder / f"{len(self.processes)}.log"
        env = {**os.environ, "SPARK_LOCAL_DIRS": str(self.folder), "SPARK_DAEMON_MEMORY": "256m"}
        with log.open("wb") as f:
            command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *args]
            self.processes.append(subprocess.Popen(command, stdout=f, stderr=f, env=env))
        for _ in range(1200):
            if ready in log.read_text():
                return
            if self.processes[-1].poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(log.read_text())

    def stop(self) -> None:
        for p in reversed(self.processes):
            p.terminate()  # an executor ends with its worker
            p.wait()


def progress(said: str) -> Iterator[str]:
    """Yields what the driver says about each step."""
    return (line.split(": ")[-1] for line in said.splitlines())
