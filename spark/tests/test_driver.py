"""Tests of the driver without Spark: frames, filters, files and finished steps."""

from __future__ import annotations

import importlib
import io
import os
import sys
import tempfile
import unittest
import zipfile
import zipimport
from collections.abc import Iterator

from neardup_spark import driver
from neardup_spark.driver import END, FilterError


def frame(target: int, letter: str, rows: bytes = b"") -> bytes:
    payload = target.to_bytes(4, "little") + letter.encode() + rows
    return len(payload).to_bytes(4, "little") + payload


FRAMES = [frame(3, "t", b"some rows"), frame(0, "x", bytes(300)), frame(70000, "t", b"others")]


class Frames(unittest.TestCase):
    def test_read(self) -> None:
        got = list(driver.read_frames(io.BytesIO(b"".join(FRAMES) + END)))
        self.assertEqual(got, FRAMES)
        self.assertEqual([(driver.target_of(f), driver.letter_of(f)) for f in got], [(3, "t"), (0, "x"), (70000, "t")])

    def test_cut_anywhere(self) -> None:
        stream = b"".join(FRAMES) + END
        for i in range(len(stream)):
            with self.assertRaises(FilterError, msg=str(i)):
                list(driver.read_frames(io.BytesIO(stream[:i])))
        with self.assertRaises(FilterError):
            list(driver.read_frames(io.BytesIO(stream + b"1")))

    def test_name(self) -> None:
        name = "s3://bucket/" + "ö" * 100
        got = driver.name_frame(7, name)
        key = name.encode()
        self.assertEqual(len(key), 212)
        self.assertEqual(got, frame(7, "I", b"\xd4\x01" + key + b"\0"))
        self.assertEqual(list(driver.read_frames(io.BytesIO(got + END))), [got])


class Filters(unittest.TestCase):
    """Filters here are Python: they read standard input and do what a test says."""

    def run_code(self, code: str, feed: Iterator[bytes] | None = None) -> list[bytes]:
        code = "import os, signal, sys; i, o = sys.stdin.buffer, sys.stdout.buffer\n" + code
        feed = iter(FRAMES) if feed is None else feed
        self.spent: list[float] = []
        with tempfile.TemporaryDirectory() as temp:
            try:
                return list(driver.run_filter([sys.executable, "-c", code], feed, temp, self.spent.append))
            finally:
                self.assertEqual(os.listdir(temp), [])

    def test_whole(self) -> None:
        self.assertEqual(self.run_code("o.write(i.read())"), FRAMES)
        self.assertEqual([seconds > 0 for seconds in self.spent], [True])

    def test_large(self) -> None:
        big = frame(1, "t", bytes(10 << 20))
        self.assertEqual(self.run_code("o.write(i.read())", iter([big] * 3)), [big] * 3)

    def test_failures(self) -> None:
        for code, says in {
            "o.write(i.read()); sys.exit(3)": "exit code 3",
            "i.read(); print('no such plan', file=sys.stderr); sys.exit(1)": "exit code 1: no such plan$",
            "i.read(); os.kill(os.getpid(), signal.SIGKILL)": "exit code -9",
            "o.write(i.read()[:-4])": "without its last frame",
            "o.write(i.read()[:-9] + bytes(4))": "",
            "o.write(i.read()[:25])": "a frame with",
            "o.write(i.read()); o.write(b'1')": "behind the last frame",
            "i.close(); os.close(0); o.write(bytes(4)); o.close(); os.close(1); sys.exit(0)": "did not read",
        }.items():
            with self.subTest(code), self.assertRaisesRegex(FilterError, says):
                self.run_code(code, iter(FRAMES * 10000))

    def test_feed_fails(self) -> None:
        """A filter whose input breaks off must not see the end of it."""
        with tempfile.TemporaryDirectory() as temp:
            mark = os.path.join(temp, "mark")

            def feed() -> Iterator[bytes]:
                yield from FRAMES
                raise OSError("the disk is gone")

            with self.assertRaisesRegex(OSError, "the disk is gone"):
                self.run_code(f"i.read(); open({mark!r}, 'w').close(); o.write(bytes(4))", feed())
            self.assertFalse(os.path.exists(mark))

    def test_given_up(self) -> None:
        """A filter does not outlive who reads it."""
        frames = driver.run_filter([sys.executable, "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.stdout.flush(); sys.stdin.close(); import time; time.sleep(60)"], iter(FRAMES * 10000))
        next(frames)
        frames.close()  # type: ignore[attr-defined]
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


class Files(unittest.TestCase):
    def setUp(self) -> None:
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.output = temp.name
        self.folder = driver.step_folder(self.output, "sign-1")
        os.makedirs(self.folder)

    def store(self, frames: list[bytes], letters: str = "tx") -> dict[str, int]:
        return dict(driver.store_frames(frames, self.folder, 7, letters))

    def done(self, files: str) -> None:
        with open(os.path.join(self.folder, "done.json"), "w") as f:
            f.write(files)

    def test_store(self) -> None:
        files = self.store([FRAMES[0], FRAMES[2], FRAMES[1]])
        self.assertEqual(files, {"t-00007": 37, "x-00007": 313})
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(files))
        with open(os.path.join(self.folder, "t-00007"), "rb") as f:
            self.assertEqual(list(driver.read_frames(f)), [FRAMES[0], FRAMES[2]])

    def test_store_fails(self) -> None:
        def broken() -> Iterator[bytes]:
            yield FRAMES[0]
            raise FilterError("short")

        with self.assertRaises(FilterError):
            list(driver.store_frames(broken(), self.folder, 7, "t"))
        with self.assertRaisesRegex(FilterError, "dataset x"):
            self.store(FRAMES, "t")
        self.assertEqual(os.listdir(self.folder), [])

    def test_done(self) -> None:
        self.assertIsNone(driver.read_done(self.output, "sign-1"))
        self.store([FRAMES[0]])
        self.assertIsNone(driver.read_done(self.output, "sign-1"))
        self.done('{"files": {"t-0')
        self.assertIsNone(driver.read_done(self.output, "sign-1"))
        self.done('{"files": {"t-00007": 22}}')
        self.assertEqual(driver.read_done(self.output, "sign-1"), {"t-00007": 22})
        self.done('{"files": {"t-00007": 23}}')
        self.assertIsNone(driver.read_done(self.output, "sign-1"))
        self.done('{"files": {"t-00007": 22, "t-00008": 22}}')
        self.assertIsNone(driver.read_done(self.output, "sign-1"))

    def test_read_file(self) -> None:
        self.store([FRAMES[0]])
        path = os.path.join(self.folder, "t-00007")
        self.assertEqual(b"".join(driver.read_file(path, 22)), FRAMES[0])
        with self.assertRaises(FilterError):
            list(driver.read_file(path, 23))

    def test_tasks(self) -> None:
        for name in ("t-00000", "t-00002", "x-00001", "r-00001"):
            with open(os.path.join(self.folder, name), "wb") as f:
                f.write(END)
        self.done('{"files": {"t-00000": 4, "t-00002": 4, "x-00001": 4, "r-00001": 4}}')
        step = {"tasks": 3, "inputs": [{"step": "sign-1", "letter": "t"}, {"step": "sign-1", "letter": "x", "all": True}]}
        tasks = [[os.path.basename(path) for path, _ in files] for _, files, _ in driver.tasks_of(self.output, step)]
        self.assertEqual(tasks, [["x-00001", "t-00000"], ["x-00001"], ["x-00001", "t-00002"]])
        named = list(driver.tasks_of(self.output, {"tasks": 2, "names": ["a", "b"]}))
        self.assertEqual(named, [(0, [], "a"), (1, [], "b")])

    def test_earlier(self) -> None:
        """What an earlier run left is read if it is there. What a step needs must be there."""
        self.store([FRAMES[0]])
        self.done('{"files": {"t-00007": 22}}')
        here, gone = {"step": "sign-1", "letter": "t", "all": True}, {"step": "sign-0", "letter": "t"}
        step = {"tasks": 1, "inputs": [], "earlier": [gone, here]}
        tasks = [[os.path.basename(path) for path, _ in files] for _, files, _ in driver.tasks_of(self.output, step)]
        self.assertEqual(tasks, [["t-00007"]])
        with self.assertRaisesRegex(FilterError, "step sign-0 is not done"):
            list(driver.tasks_of(self.output, {"tasks": 1, "inputs": [gone], "earlier": [here]}))

    def test_remove_others(self) -> None:
        os.makedirs(driver.step_folder(self.output, "sign-2"))
        driver.remove_others(self.output, {"sign-2"})
        self.assertEqual(os.listdir(os.path.join(self.output, "steps")), ["sign-2"])

    def test_reason(self) -> None:
        e = Exception("Job aborted\n  File x\nneardup_spark.driver.FilterError: stage sign: exit code 1: \n neardup: disk full\n\n\tat org.apache\n\tat y\n")
        self.assertEqual(driver.reason(e), "stage sign: exit code 1: \n neardup: disk full")
        self.assertEqual(driver.advice(driver.reason(e)), "the same command goes on with this step")
        e = Exception("x\nneardup_spark.driver.FilterError: stage extract: exit code -9: a stream without its last frame\n\n\tat y\n")
        self.assertIn("pages at which it ended are skipped", driver.advice(driver.reason(e)))


class ZipFiles(unittest.TestCase):
    """After forget_zip_files, nothing reads the directory of a zip file again, and its modules can still be loaded."""

    def test_forgotten(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "modules.zip")
            with zipfile.ZipFile(path, "w") as z:
                for name in ("first", "second"):
                    z.writestr(f"neardup_{name}/__init__.py", f"name = {name!r}\n")
            sys.path.insert(0, path)
            self.addCleanup(sys.path.remove, path)
            self.assertEqual(importlib.import_module("neardup_first").name, "first")
            self.assertTrue(self.importers())
            driver.forget_zip_files()
            self.assertEqual(self.importers(), [])
            importlib.invalidate_caches()
            self.assertEqual(importlib.import_module("neardup_second").name, "second")

    def importers(self) -> list[str]:
        return [path for path, importer in sys.path_importer_cache.items() if isinstance(importer, zipimport.zipimporter)]


if __name__ == "__main__":
    unittest.main()
