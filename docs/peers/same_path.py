#!/usr/bin/env python3
"""Pages at the same path in two versions of a package: how many such pairs are in one cluster.

usage: same_path.py CLUSTERS.jsonl WARC PACKAGE1 PACKAGE2      such as libboost1.74-doc libboost1.81-doc

The path is what follows the package's name in the target URI, whose host has it, too, with - for a dot.
"""
import gzip
import json
import sys


def main():
    clusters, warc, *packages = sys.argv[1:]
    paths = [{}, {}]
    with gzip.open(warc) as f:
        response = False
        for line in f:
            if line.startswith(b"WARC-Type:"):
                response = line.split()[1] == b"response"
            elif response and line.startswith(b"WARC-Target-URI:"):
                uri, response = line.split(b":", 1)[1].decode(errors="replace").strip(" \r\n<>"), False
                for of, package in zip(paths, packages):
                    if uri.startswith("http://" + package.replace(".", "-") + ".") and "/" + package + "/" in uri:
                        of[uri.split("/" + package + "/", 1)[1]] = uri
    cluster = {}
    with open(clusters, encoding="utf-8") as f:
        sizes, one_site, titles = [0], 0, 0
        for line in f:
            c = json.loads(line)
            sizes.append(c["size"])
            of = {}
            for m in c["members"]:
                of.setdefault(m["uri"].split("/")[2], []).append(m.get("title"))
            one_site += any(len(t) > 1 for t in of.values())
            titles += any(len(set(t)) > 1 for t in of.values())
            cluster.update((m["uri"], c["cluster"]) for m in c["members"])
    same = set(paths[0]) & set(paths[1])
    found = sum(cluster.get(paths[0][p], 0) == cluster.get(paths[1][p], 1) for p in same)
    print(f"{found} of {len(same)} same-path pairs in one cluster; the largest cluster has {max(sizes)} pages")
    print(f"{one_site} of {len(sizes) - 1} clusters have two pages of one host, {titles} of them with different titles")


if __name__ == "__main__":
    main()
