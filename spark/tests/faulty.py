"""Stands in for the program neardup, and makes faults when it is told to.

harness.py puts a first line before it that sets PROGRAM and FOLDER. FOLDER/log gets a
line for each filter that runs. A file FOLDER/faults/FILTER-TASK, or FILTER-any, is a
fault of the first such task: its content is the name of a function below. "sort-any" may
be followed by the filter after which it counts.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

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
            what = f.read()
        {"kill": kill, "lie": lie, "executor": executor, "wait": wait}[what]()
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])


if __name__ == "__main__":
    main()
