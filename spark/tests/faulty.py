"""Stands in for the program neardup, and makes faults when it is told to.

harness.py puts a first line before it that sets PROGRAM and FOLDER. FOLDER/log gets a
line for each filter that runs. A file FOLDER/faults/FILTER-TASK, or FILTER-any, is a
fault of the first such task: its content is the name of a function below, and what that
is given. "sort-any" may be followed by the filter after which it counts.
"""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

PROGRAM: str
FOLDER: str


def kill() -> None:
    """The filter is killed when it has written a part."""
    cut_off()
    os.kill(os.getpid(), signal.SIGKILL)


def lie() -> None:
    """The filter writes a part and says that all is well."""
    cut_off()
    sys.exit(0)


def cut_off() -> None:
    p = subprocess.Popen([PROGRAM, *sys.argv[1:]], stdout=subprocess.PIPE)
    assert p.stdout
    sys.stdout.buffer.write(p.stdout.read(100))
    sys.stdout.buffer.flush()
    p.kill()
    p.wait()


def page(offset: str) -> None:
    """The page behind the record at an offset ends the filter that reads it."""
    p = subprocess.Popen([PROGRAM, *sys.argv[1:]])
    while p.poll() is None:
        for note in glob.glob(os.path.join(sys.argv[sys.argv.index("--attempts") + 1], "*")):
            with open(note) as f:
                if f.read().split()[:1] == [offset]:
                    p.kill()
        time.sleep(0.001)
    sys.exit(1)


def trial() -> None:
    """The page ends the process, too, that reads it alone."""
    p = subprocess.Popen([PROGRAM, *sys.argv[1:]])
    while p.poll() is None:
        for stat in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(stat) as f:
                pid, rest = stat.split("/")[2], f.read().rsplit(")", 1)[1]
                if int(rest.split()[1]) == p.pid:
                    os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.001)
    sys.exit(p.returncode)


def replan(setting: str) -> None:
    """Somebody plans again, with another setting, before the filter runs."""
    output = os.path.dirname(sys.argv[sys.argv.index("--plan") + 1])
    subprocess.run([PROGRAM, "spark", "--output", output, "--set", setting], check=True, stdout=subprocess.DEVNULL)


def executor() -> None:
    """The worker and the executor are killed, and their shuffle files are lost."""
    above, pid = [], os.getppid()
    while pid > 1:
        with open(f"/proc/{pid}/stat") as f:
            name, rest = f.read().rsplit(")", 1)
        if name.endswith("(java"):
            above.append(pid)
        pid = int(rest.split()[1])
    executor, worker = above[:2]
    for pid in (worker, executor):  # a worker that lives starts another executor
        os.kill(pid, signal.SIGKILL)
    for folder in os.environ["SPARK_LOCAL_DIRS"].split(","):
        shutil.rmtree(folder)
    sys.exit(1)


def wait() -> None:
    """The filter hangs until its executor ends."""
    with open(os.path.join(FOLDER, "waiting"), "w"):
        parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.05)
    sys.exit(1)


def main() -> None:
    name, task = sys.argv[2], sys.argv[sys.argv.index("--task") + 1]
    log = os.path.join(FOLDER, "log")
    with open(log, "a+") as f:
        f.write(f"{name} {task}\n")
        f.seek(0)
        ran = [line.split()[0] for line in f if not line.startswith("sort ")]
    for fault in (f"{name}-{task}", f"{name}-any", f"{name}-any-{ran[-1] if ran else ''}"):
        path = os.path.join(FOLDER, "faults", fault)
        try:
            os.rename(path, path + ".taken")
        except FileNotFoundError:
            continue
        with open(path + ".taken") as f:
            what, *given = f.read().split()
        faults: dict[str, Callable[..., None]] = {"kill": kill, "lie": lie, "page": page, "replan": replan, "trial": trial, "executor": executor, "wait": wait}
        faults[what](*given)
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])


if __name__ == "__main__":
    main()
