"""Tests of whole runs on Spark: the same bytes as on one machine, also after faults."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from tests.harness import CLUSTER_CONF, ROOT, Case, Cluster, progress


class Local(Case):
    """Runs in one process of Spark."""

    master = "local[2,4]"

    def test_same_bytes(self) -> None:
        archives, events = self.archives(), self.dir / "events"
        events.mkdir()
        line = self.plan(archives[:3], self.master, "--exports", "jsonl,csv,parquet,contained")
        command = self.command(line, {"spark.ui.enabled": "false", "spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(),
                                      "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"})
        said = self.submit(command)
        self.assertEqual(len(said.splitlines()), len(self.steps()))
        self.assertNotIn("done before", said)
        self.same(archives[:3])
        self.same_files()
        self.assert_names(events)
        self.assertEqual(sorted(self.done()), sorted(self.steps()))
        self.assert_no_temporary_files()
        self.assertEqual(os.listdir(self.output / "attempts"), [])

        # Once more: nothing is left to do.
        first = self.done()
        said = self.submit(command)
        self.assertEqual(set(progress(said)), {"done before"})
        self.assertEqual(self.done(), first)

        # A later crawl: what was read is not read again, and old steps go.
        self.plan(archives, self.master)
        said = self.submit(command)
        self.assertEqual([s for s in progress(said)].count("done before"), 1)
        recalled = [name for name in os.listdir(self.output / "steps") if name.startswith("gather-")]
        self.assertEqual([any((self.output / "steps" / name).glob("0-*")) for name in recalled], [True, True])
        kept = set(first) & set(self.done())
        self.assertEqual([s.startswith("extract-1") for s in kept], [True])
        self.assertEqual(sorted(os.listdir(self.output / "steps")), sorted(self.steps()))
        for w in ("cluster", "single"):
            (self.dir / w).rename(self.dir / f"{w}-before")
        self.same(archives)
        self.same_files()

        # Without exports, their folder and its name go.
        self.plan(archives, self.master, "--exports=")
        self.submit(command)
        self.assertFalse(os.path.lexists(self.output / "exports"))
        self.assertEqual(sorted(os.listdir(self.output / "steps")), sorted(self.steps()))

    def assert_names(self, events: Path) -> None:
        """Spark's pages name the steps."""
        names = set()
        for log in events.iterdir():
            for line in log.read_text().splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerJobStart":
                    names.add(event["Properties"]["spark.job.description"])
        self.assertIn("step 7 of 21: sign: texts to signatures", names)
        self.assertEqual(len(names), len(self.steps()))

    def assert_no_temporary_files(self) -> None:
        self.assertEqual([str(p) for p in self.output.rglob(".*")], [])

    def test_join(self) -> None:
        """A join by prefixes, and one by bands."""
        archives = self.archives()[:2]
        for preset in ("ppjoin", "cosine-lsh"):
            self.output = self.dir / preset
            self.submit(self.command(self.plan(archives, self.master, "--config", preset), {"spark.ui.enabled": "false"}))
            self.same(archives, "--config", preset, formats=("jsonl", "csv", "edges"))
            for w in ("cluster", "single"):
                (self.dir / w).rename(self.dir / f"{w}-{preset}")

    def test_page_that_kills(self) -> None:
        """A page that ends each process that reads it is skipped and counted, and the run goes on."""
        tree = "<table>x</table><p>" + "".join(f"<b id={i}>" for i in range(480)) + "<p>x</p>" * 20000  # takes a while to read
        pages = ["<p>The first page says this and that.", "<p>The second page says something else.", tree]
        archive, at = self.dir / "pages.warc", []  # at: places of records; a note has that of the record before
        with archive.open("wb") as f:
            for i, html in enumerate(pages):
                at.append(f.tell())
                block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}"
                f.write(f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-00000000000{i}>\r\n"
                        f"WARC-Date: 2024-03-04T06:11:07Z\r\nWARC-Target-URI: http://a.example/{i}\r\n"
                        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n{block}\r\n\r\n".encode())
        self.partitions = 1
        program = self.faulty(extract_0=f"page {at[1]}", extract_any="trial")
        self.submit(self.command(self.plan([archive], self.master), {"spark.ui.enabled": "false"}, program))
        self.assert_taken(2)
        self.assertEqual(self.log().count("extract 0"), 2)
        self.neardup("spark", "adopt", "--output", self.output, "--workspace", self.dir / "cluster")
        status = json.loads(self.neardup("status", "--json", "--workspace", self.dir / "cluster"))
        self.assertEqual(status["records"]["skipped"], {"ended-run": 1})
        self.assertEqual(status["records"]["captures"], 2)

    def test_planned_again(self) -> None:
        """A plan that is made while the driver runs is not mixed with the one before."""
        archives = self.archives()[:3]
        program = self.faulty(lists_1="replan verify.whole=0.95")
        command = self.command(self.plan(archives, self.master), {"spark.ui.enabled": "false"}, program)
        said = self.submit(command, code=1)
        self.assert_taken(1)
        self.assertRegex(said, r"the plan has no step \S+: it was made again; start the driver again")
        self.submit(command)
        self.same(archives, "--set", "verify.whole=0.95")

    def test_filter_that_always_fails(self) -> None:
        line = self.plan([ROOT / "example" / "crawl.warc.gz"], self.master)
        broken = self.dir / "broken"
        broken.write_text("#!/bin/sh\ncat >/dev/null\necho the disk is full >&2\nexit 6\n")
        broken.chmod(0o755)
        said = self.submit(self.command(line, {"spark.ui.enabled": "false"}, broken), code=1)
        self.assertIn("stage extract: exit code 6: the disk is full\n", said)
        self.assertEqual(self.done(), {})
        self.assert_no_temporary_files()


class Standalone(Case):
    """Runs on a cluster of two workers, in which something breaks."""

    cluster: Cluster

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        logs = cls.folder / "cluster"
        logs.mkdir()
        cls.cluster = Cluster(logs, 2)
        cls.addClassCleanup(cls.cluster.stop)

    def test_filters_and_archives(self) -> None:
        """Filters are killed or write a part; one archive is cut off, one is missing."""
        archives = self.archives()
        whole = archives[0].read_bytes()
        archives[0] = self.dir / "cut.warc.gz"
        archives[0].write_bytes(whole[: 3 * len(whole) // 4])
        archives.append(self.dir / "missing.warc.gz")
        program = self.faulty(extract_1="kill", sign_2="lie", sort_any_lists="kill", close_0="kill")
        self.submit(self.command(self.plan(archives, self.cluster.master), CLUSTER_CONF, program))
        self.assert_taken(4)
        log = self.log()
        self.assertEqual([log.count(task) for task in ("extract 0", "extract 1", "sign 1", "sign 2", "close 0")], [1, 2, 1, 2, 2])
        self.same(archives, code=3)

    def test_driver(self) -> None:
        """The driver is killed and started again."""
        archives = self.archives()
        program = self.faulty(lists_2="wait")
        command = self.command(self.plan(archives, self.cluster.master), CLUSTER_CONF, program)
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.kill, p)
        self.wait_for(self.dir / "faulty" / "waiting", p)
        self.kill(p)
        before, ran = self.done(), len(self.log())
        self.assertEqual(list(before), [step for step in before if step in self.steps()[:7]])
        half = self.output / "steps" / self.steps()[7]
        (half / "e-00000").write_bytes(b"half")
        (self.output / "steps" / "stale").mkdir()

        said = self.submit(command)
        self.assertEqual(list(progress(said)).count("done before"), 7)
        after = self.done()
        self.assertEqual({step: after[step] for step in before}, before)
        again = {line.split()[0] for line in self.log()[ran:]}
        self.assertFalse(again & {"extract", "resolve", "frames", "sign"}, again)
        self.assertFalse((self.output / "steps" / "stale").exists())
        self.same(archives)

    def wait_for(self, path: Path, p: subprocess.Popen[bytes]) -> None:
        while not path.exists():
            self.assertIsNone(p.poll(), "the run ended")
            time.sleep(0.05)

    def kill(self, p: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


class LostWorker(Case):
    """Runs on a cluster that loses a worker, its executor and their shuffle files."""

    def test_worker(self) -> None:
        archives, logs = self.archives(), self.dir / "logs"
        logs.mkdir()
        cluster = Cluster(logs, 2)
        self.addCleanup(cluster.stop)
        program = self.faulty(sort_any_sign="executor")
        self.submit(self.command(self.plan(archives, cluster.master), CLUSTER_CONF, program))
        self.assert_taken(1)
        signed = [line for line in self.log() if line.startswith("sign ")]
        self.assertGreater(len(signed), self.partitions, "the files of the lost worker were not made again")
        self.same(archives)


if __name__ == "__main__":
    unittest.main()
