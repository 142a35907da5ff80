#!/usr/bin/env python3
"""Reads every export of a workspace back with tools of others and compares them.

    python3 exports.py EXPORTS [ARCHIVES...]

EXPORTS is a folder with clusters.jsonl, clusters.parquet, clusters.cdxj,
keep.csv, edges.jsonl and graph.graphml; ARCHIVES are the WARC files that were
clustered. Needs pyarrow, duckdb, surt, warcio, pywb and networkx. Prints what
was compared, and ends with an error at the first difference.
"""

import csv
import json
import os
import sys
from collections import Counter

import duckdb
import networkx
import pyarrow.parquet
from pywb.warcserver.index.cdxobject import CDXObject
from pywb.warcserver.index.indexsource import FileIndexSource
from surt import surt
from warcio.archiveiterator import ArchiveIterator


def main():
    folder, archives = sys.argv[1], sys.argv[2:]
    at = lambda name: os.path.join(folder, name)
    members = {}  # (record id, digits of the date, uri) -> (cluster, relation)
    clusters = {}
    with open(at("clusters.jsonl"), encoding="utf-8") as f:
        for line in f:
            c = json.loads(line)
            clusters[c["cluster"]] = c
            for m in c["members"]:
                members[m["record_id"], digits(m["date"]), m["uri"]] = (c["cluster"], m["relation"])
    print(f"jsonl: {len(clusters)} clusters, {len(members)} pages")

    rows = pyarrow.parquet.read_table(at("clusters.parquet")).to_pylist()
    assert len(rows) == sum(c["size"] for c in clusters.values()), len(rows)
    for r in rows:
        m = next(m for m in clusters[r["cluster"]]["members"] if m["record_id"] == r["record_id"] and m["uri"] == r["url"])
        for column, field in [("url", "uri"), ("warc_filename", "warc"), ("warc_record_offset", "offset"), ("relation", "relation"),
                              ("resemblance", "resemblance"), ("containment", "containment"), ("verified_against", "verified_against")]:
            assert r[column] == m[field], (column, r, m)
        assert r["content_digest"] == m["digest"].removeprefix("sha1:"), (r, m)
        assert r["url_surtkey"] == surt(r["url"]), (r["url_surtkey"], surt(r["url"]))
        if r["fetch_time"]:
            assert r["fetch_time"].strftime("%Y-%m-%dT%H:%M:%S") == m["date"][:19], (r["fetch_time"], m["date"])
    print(f"parquet, pyarrow: {len(rows)} rows as in jsonl, url_surtkey as of the package surt")
    query = f"select count(*), count(distinct cluster), sum(payload_bytes) filter (relation <> 'representative') from '{at('clusters.parquet')}'"
    pages, distinct, redundant = duckdb.sql(query).fetchall()[0]
    assert (pages, distinct) == (len(rows), len(clusters))
    print(f"parquet, duckdb: {pages} pages in {distinct} clusters, {redundant} redundant bytes")

    lines = open(at("clusters.cdxj"), "rb").read().splitlines(keepends=True)
    assert lines == sorted(lines), "cdxj is not sorted"
    assert len(lines) == len(rows)
    for line in lines:
        c = CDXObject(line)
        assert c["urlkey"] == surt(c["url"]), c
        assert members[c["record_id"], c["timestamp"], c["url"]] == (c["cluster"], c["relation"])
        assert all(c.get(f) not in (None, "") for f in ("url", "mime", "status", "digest", "length", "offset", "filename"))
    source = FileIndexSource(at("clusters.cdxj"))
    for url in {m[2] for m in members}:
        key = surt(url).encode()
        found = list(source.load_index({"key": key, "end_key": key + b"!"}))
        assert any(c["url"] == url for c in found), url
    print(f"cdxj, pywb: {len(lines)} lines sorted, every URL found by its index")
    by_name = {os.path.basename(a): a for a in archives}
    read = 0
    for line in lines:
        c = CDXObject(line)
        if c["filename"] not in by_name or c["length"] == "-":
            continue
        with open(by_name[c["filename"]], "rb") as f:
            f.seek(int(c["offset"]))
            record = next(ArchiveIterator(Clip(f, int(c["length"]))))
            assert record.rec_headers.get_header("WARC-Record-ID") == c["record_id"], c
            if record.http_headers:
                assert c["status"] in ("-", record.http_headers.get_statuscode()), c
            record.content_stream().read()
        read += 1
    print(f"cdxj, warcio: {read} records read at their offset and length")

    with open(at("keep.csv"), encoding="utf-8", newline="") as f:
        keep = list(csv.DictReader(f))
    actions = Counter(k["action"] for k in keep)
    assert len(keep) == len(rows) and actions["keep"] >= len(clusters), actions
    assert all(k["action"] != "keep" or k["record_id"] == k["kept"] for k in keep)
    print(f"keep: {dict(actions)}, {sum(int(k['payload_bytes']) for k in keep if k['action'] == 'redundant')} bytes saved")

    edges = [json.loads(line) for line in open(at("edges.jsonl"), encoding="utf-8")]
    graph = networkx.read_graphml(at("graph.graphml"), force_multigraph=True)
    assert graph.number_of_edges() == len(edges), (graph.number_of_edges(), len(edges))
    drawn = Counter((graph.nodes[a]["record_id"], graph.nodes[b]["record_id"], d["relation"], d["resemblance"]) for a, b, d in graph.edges(data=True))
    assert drawn == Counter((e["source"], e["target"], e["relation"], e["resemblance"]) for e in edges)
    inside = networkx.Graph((a, b) for a, b in graph.edges() if graph.nodes[a].get("cluster") and graph.nodes[a].get("cluster") == graph.nodes[b].get("cluster"))
    parts = sorted(sorted(graph.nodes[n]["record_id"] for n in part) for part in networkx.connected_components(inside))
    assert parts == sorted(sorted(m["record_id"] for m in c["members"]) for c in clusters.values())
    print(f"edges, networkx: {len(edges)} edges, {graph.number_of_nodes()} nodes; the parts that clusters' edges connect are the clusters")


def digits(date):
    """The date as indexes have it; one that is none, as of a text collection, is zeros."""
    found = "".join(d for d in date if d.isdigit())[:14]
    return found if len(found) == 14 else "0" * 14


class Clip:
    """The first n bytes of what is left of a file."""

    def __init__(self, f, n):
        self.f, self.n = f, n

    def read(self, n=-1):
        b = self.f.read(self.n if n < 0 else min(n, self.n))
        self.n -= len(b)
        return b


if __name__ == "__main__":
    main()
