"""Runs the plan of `neardup spark` on Spark.

    spark-submit --files NEARDUP OUTPUT/driver.py OUTPUT

NEARDUP is the program neardup, which travels with the job. OUTPUT is a directory that
all machines share. It has the plan, and gets the rows of each step.

The driver has no algorithm. A task of a step gives frames of rows to a filter
(`neardup stage`), and the filter writes frames. The first bytes of a frame say which
partition it is for; Spark brings frames there and sees no rows. For each partition,
`neardup stage sort` makes sorted files of the frames. docs/format.md describes frames,
steps and files.

The tasks of a step read the files of steps before it, so a step runs as a Spark job of
its own, and is done once OUTPUT/steps/ID/done.json exists. A driver that is started
again goes on with the first step that is not done.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import zipimport
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, Optional

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext, SparkFiles, TaskContext

PLAN_FORMAT = 3
END = bytes(4)  # the frame that ends a stream
CHUNK = 1 << 20

Step = dict[str, Any]
Stats = dict[str, float]
Source = tuple[str, int]  # a file of frames and its size
Task = tuple[int, list[Source], Optional[str]]  # number, input, name of an archive


class FilterError(Exception):
    """A filter failed, or what it read or wrote is not whole."""


# Frames


def read_frames(stream: IO[bytes]) -> Iterator[bytes]:
    """Yields the frames of a stream, each with its length.

    A stream that ends without its last frame is an error: who wrote it may have failed.
    """
    while True:
        head = stream.read(4)
        if len(head) < 4:
            raise FilterError("a stream without its last frame")
        size = int.from_bytes(head, "little")
        if size == 0:
            if stream.read(1):
                raise FilterError("bytes behind the last frame")
            return
        payload = stream.read(size)
        if size < 5 or len(payload) < size:
            raise FilterError(f"a frame with {len(payload)} of {size} bytes")
        yield head + payload


def target_of(frame: bytes) -> int:
    """Returns the partition that a frame is for."""
    return int.from_bytes(frame[4:8], "little")


def letter_of(frame: bytes) -> str:
    """Returns the letter of a frame's dataset."""
    return chr(frame[8])


def name_frame(number: int, name: str) -> bytes:
    """Returns the frame with the name of the archive that a task reads."""
    key = name.encode()
    payload = number.to_bytes(4, "little") + b"I" + uvarint(len(key)) + key + uvarint(0)
    return len(payload).to_bytes(4, "little") + payload


def uvarint(n: int) -> bytes:
    """Returns n as unsigned LEB128."""
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_file(path: str, size: int) -> Iterator[bytes]:
    """Yields the content of a file of frames without the frame that ends it."""
    with open(path, "rb") as f:
        if os.fstat(f.fileno()).st_size != size:
            raise FilterError(f"{path} has not the {size} bytes that its step wrote")
        left = size - len(END)
        while left > 0:
            chunk = f.read(min(CHUNK, left))
            if not chunk:
                raise FilterError(f"{path} ends early")
            left -= len(chunk)
            yield chunk


# Filters


def run_filter(
    command: list[str], feed: Iterable[bytes], temp: str | None = None, spent: Callable[[float], None] | None = None
) -> Iterator[bytes]:
    """Yields the frames that a filter writes when it reads what feed yields.

    A filter reads all of its input before it writes, so one thread does. If anything
    fails, feed included, the filter is killed before it sees the end of its input:
    otherwise it would take a part for the whole. Frames count only if the iteration
    ends without an error. spent is given the processor seconds of the filter.
    """
    name = " ".join(command[1:3])
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=temp) as own, open(os.path.join(own, "stderr"), "w+b") as log:
        p = subprocess.Popen([*command, "--temp", own], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert p.stdin and p.stdout
        whole, fault = False, ""
        try:
            for chunk in feed:
                p.stdin.write(chunk)
            p.stdin.write(END)
            p.stdin.close()
            yield from read_frames(p.stdout)
            whole = True
        except BrokenPipeError:
            fault = "it did not read its input"
        except FilterError as e:
            fault = str(e)
        finally:
            if not whole:
                # Not p.kill(), which collects the exit code, and with it the usage.
                os.kill(p.pid, signal.SIGKILL)
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(BrokenPipeError):
                p.stdin.close()
            p.stdout.close()
            log.seek(0)
            said = log.read(64 << 10).decode(errors="replace")
            sys.stderr.write(said)
            if spent:
                spent(usage.ru_utime + usage.ru_stime)
        if fault or p.returncode:
            why = said[-2000:].strip() if p.returncode > 0 else ""
            raise FilterError(f"{name}: exit code {p.returncode}: {why or fault}")


# A step


def run_step(sc: SparkContext, binary: str, output: str, plan: dict[str, Any], step: Step) -> Stats:
    """Runs a step. What was there of it is removed first."""
    folder = step_folder(output, step["id"])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    plan_file, partitions, letters = os.path.join(output, "plan.json"), plan["partitions"], step["writes"]
    filters, python = sc.accumulator(0.0), sc.accumulator(0.0)  # processor seconds of tasks that ended well

    attempts = os.path.join(output, "attempts", step["id"])  # notes of tasks that read archives
    if step.get("names"):
        os.makedirs(attempts, exist_ok=True)

    def filtered(name: str, number: int, feed: Iterable[bytes]) -> Iterator[bytes]:
        context = TaskContext.get()
        assert context
        local = os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")
        command = [SparkFiles.get(binary), "stage", name, "--plan", plan_file, "--step", step["id"]]
        command += ["--task", str(number), "--workers", str(max(1, context.cpus()))]
        if name == "extract":
            command += ["--attempts", attempts]
        if step.get("files") and name == step["filter"]:
            command += ["--exports", folder]
        began = time.process_time()
        yield from run_filter(command, feed, local[number % len(local)], filters.add)
        python.add(time.process_time() - began)

    def run_task(tasks: Iterable[Task]) -> Iterator[tuple[int, bytes]]:
        forget_zip_files()
        for number, files, archive in tasks:
            feed: Iterable[bytes] = (chunk for path, size in files for chunk in read_file(path, size))
            if archive is not None:
                feed = [name_frame(number, archive)]
            for frame in filtered(step["filter"], number, feed):
                yield target_of(frame), frame

    def store(target: int, moved: Iterable[tuple[int, bytes]]) -> Iterator[Source]:
        forget_zip_files()
        frames = (frame for _, frame in moved)
        first = next(frames, None)
        if first is not None:  # a partition without rows has no files
            yield from store_frames(filtered("sort", target, itertools.chain([first], frames)), folder, target, letters)

    tasks = list(tasks_of(output, step))
    moved = sc.parallelize(tasks, len(tasks)).mapPartitions(run_task).partitionBy(partitions, int)
    files = dict(moved.mapPartitionsWithIndex(store).collect())
    if step.get("files"):  # exports, which the filter wrote into the folder
        files = {e.name: e.stat().st_size for e in os.scandir(folder) if not e.name.startswith(".")}
    for name in os.listdir(folder):  # what attempts left that were killed
        if name not in files:
            os.remove(os.path.join(folder, name))
    stats: Stats = {"filter_cpu_seconds": filters.value, "python_cpu_seconds": python.value}
    with published(folder, "done.json") as f:
        f.write(json.dumps({"files": files, **stats}, indent=1, sort_keys=True).encode())
    shutil.rmtree(attempts, ignore_errors=True)
    return stats


def forget_zip_files() -> None:
    """Removes the importers of zip files, so that the next task of this process starts sooner.

    Before each task, PySpark calls importlib.invalidate_caches, and each importer of a
    zip file then reads the directory of its file again. PySpark itself is such a file,
    with an importer for each of its packages: docs/benchmarks/spark.md has the cost.
    Modules that are loaded stay, and Python makes an importer again when it needs one.
    """
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            del sys.path_importer_cache[path]


def tasks_of(output: str, step: Step) -> Iterator[Task]:
    """Yields the tasks of a step with their input."""
    if step.get("names"):
        for number, name in enumerate(step["names"]):
            yield number, [], name
        return
    for_all: list[Source] = []
    for_one: dict[int, list[Source]] = {}  # a partition without rows has no file
    earlier = step.get("earlier", [])  # they only spare work, and may be gone
    for d in step["inputs"] + earlier:
        files = read_done(output, d["step"])
        if files is None:
            if d in earlier:
                continue
            raise FilterError(f"step {d['step']} is not done")
        for name, size in sorted(files.items()):
            letter, _, partition = name.partition("-")
            if letter == d["letter"]:
                source = os.path.join(step_folder(output, d["step"]), name), size
                (for_all if d.get("all") else for_one.setdefault(int(partition), [])).append(source)
    for number in range(step["tasks"]):
        yield number, for_all + for_one.get(number, []), None


def store_frames(frames: Iterable[bytes], folder: str, target: int, letters: str) -> Iterator[Source]:
    """Writes the frames of a partition, one file for each dataset. Yields the files.

    The frames of a dataset follow each other. The files get their names when all are
    whole. An attempt that Spark gave up may do this at the same time: its files are
    others until then, and have the same bytes after.
    """
    with contextlib.ExitStack() as files:
        open_files: dict[str, IO[bytes]] = {}
        for frame in frames:
            letter = letter_of(frame)
            if letter not in letters:
                raise FilterError(f"rows of dataset {letter}, not of {letters}")
            if letter not in open_files:
                open_files[letter] = files.enter_context(published(folder, f"{letter}-{target:05d}"))
            open_files[letter].write(frame)
        sizes = {}
        for letter, f in open_files.items():
            f.write(END)
            sizes[f"{letter}-{target:05d}"] = f.tell()
    yield from sizes.items()


@contextlib.contextmanager
def published(folder: str, name: str) -> Iterator[IO[bytes]]:
    """Opens a file that gets its name when it is whole."""
    temporary = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "wb") as f:
            yield f
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def step_folder(output: str, step_id: str) -> str:
    """Returns the folder of a step."""
    return os.path.join(output, "steps", step_id)


def read_done(output: str, step_id: str) -> dict[str, int] | None:
    """Returns the files of a step and their sizes, or None if the step is not done.

    A step whose files are not all there, as after a crash of the file system, is not.
    """
    folder = step_folder(output, step_id)
    try:
        with open(os.path.join(folder, "done.json"), "rb") as f:
            files: dict[str, int] = json.load(f)["files"]
        there = {e.name: e.stat().st_size for e in os.scandir(folder)}
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return files if all(there.get(name) == size for name, size in files.items()) else None


# The run


def run(sc: SparkContext, binary: str, output: str, report: Callable[[int, Step, Stats | None], None]) -> None:
    """Runs the steps of a plan that are not done. Reports each with its statistics."""
    with open(os.path.join(output, "plan.json"), "rb") as f:
        plan = json.load(f)
    if plan["format"] != PLAN_FORMAT:
        raise FilterError(f"a plan of format {plan['format']}; this driver has format {PLAN_FORMAT}")
    steps = plan["steps"]
    for i, step in enumerate(steps):
        if read_done(output, step["id"]) is not None:
            report(i, step, None)
            continue
        # These are the names in Spark's own pages.
        sc.setJobGroup(step["id"], f"step {i + 1} of {len(steps)}: {step['name']}")
        report(i, step, run_step(sc, binary, output, plan, step))
    link_exports(output, [step["id"] for step in steps if step.get("files")])
    remove_others(output, {step["id"] for step in steps})


def link_exports(output: str, steps: list[str]) -> None:
    """Makes OUTPUT/exports the name of the folder of the step that exported, if there is one."""
    name = os.path.join(output, "exports")
    if not steps:
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
        return
    temporary = f"{name}.{uuid.uuid4().hex}"
    os.symlink(os.path.join("steps", steps[0]), temporary)
    os.replace(temporary, name)


def remove_others(output: str, keep: set[str]) -> None:
    """Removes the folders of steps that the plan no longer has."""
    folder = os.path.join(output, "steps")
    for name in os.listdir(folder):
        if name not in keep:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def reason(e: Exception) -> str:
    """Returns what a filter said, without Java's and Python's traces around it."""
    found = re.search(r"FilterError: (.*?)\n(?:\n|\tat )", str(e), re.DOTALL)
    return found.group(1) if found else str(e)


def advice(why: str) -> str:
    """Returns what to do about a reason."""
    again = "the same command goes on with this step"
    if why.startswith("stage extract: exit code -"):  # by a signal
        again += "; pages at which it ended are skipped and counted"
    return again


def configured() -> SparkConf:
    """Returns the settings of spark-submit, with what suits blocks where they are silent."""
    conf = SparkConf().setIfMissing("spark.app.name", "neardup")
    # Up to this number of partitions, a task of Spark writes a file for each. It is 200
    # by default, so 200 tasks make 40,000 files; docs/benchmarks/spark.md has the cost.
    return conf.setIfMissing("spark.shuffle.sort.bypassMergeThreshold", "16")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the plan of neardup spark on Spark.")
    parser.add_argument("output", help="directory of the plan, on a file system that all machines share")
    parser.add_argument("--binary", default="neardup", help="name of the program that --files brought")
    args = parser.parse_args()
    conf = configured()
    if conf.get("spark.master", "").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the same version as the driver's
    began = time.monotonic()

    def report(i: int, step: Step, stats: Stats | None) -> None:
        did = "done before"
        if stats is not None:
            did = f"{step['tasks']} tasks, processor {stats['filter_cpu_seconds']:.1f} s, at {time.monotonic() - began:.0f} s"
        print(f"neardup: {i + 1:2}  {step['name']}: {did}", file=sys.stderr, flush=True)

    sc = SparkContext(conf=conf)
    try:
        run(sc, args.binary, os.path.abspath(args.output), report)
    except (FilterError, Py4JJavaError) as e:
        print(f"neardup: {reason(e)}\nneardup: {advice(reason(e))}", file=sys.stderr)
        return 1
    finally:
        sc.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
