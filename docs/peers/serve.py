"""Times pages of neardup serve over the loopback.

usage: serve.py http://127.0.0.1:PORT/ [ROUNDS]

Asks for the first page, the list of clusters and its parts, clusters, pairs and
searches, in turn, each on a new connection; prints the median, the slowest and
the size of each kind. Standard library only.
"""
import http.client
import re
import statistics
import sys
import time
import urllib.parse


def get(base, path):
    started = time.perf_counter()
    c = http.client.HTTPConnection(base.hostname, base.port)
    c.request("GET", path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    if answer.status != 200:
        sys.exit(f"{path}: status {answer.status}")
    return time.perf_counter() - started, body.decode()


def main(url, rounds):
    base = urllib.parse.urlsplit(url)
    clusters, after = [], "/clusters"
    lists = [after]
    while after and len(lists) < 40:
        _, body = get(base, after)
        clusters += re.findall(r'href="(/cluster/[0-9a-f]+)"', body)
        more = re.search(r'href="(/clusters\?[^"]*after=[^"]*)"', body)
        after = more and more[1].replace("&amp;", "&")
        if after:
            lists.append(after)
    clusters = list(dict.fromkeys(clusters))
    pairs, hosts = [], []
    for path in clusters[:: max(1, len(clusters) // 60)]:
        _, body = get(base, path)
        pairs += re.findall(r'href="(/pair/[^"]+)"', body)[:2]
        hosts += re.findall(r'class="[^"]*uri[^"]*"[^>]*>https?://([^/<]+)', body)[:1]
    kinds = {
        "first page": ["/"],
        "clusters, a part": lists,
        "largest clusters": clusters[:20],
        "clusters": clusters,
        "pairs": pairs,
        "search by host": ["/search?host=" + urllib.parse.quote(h) for h in dict.fromkeys(hosts)],
        "search by URI and date": ["/search?from=2000&to=2100&uri=" + urllib.parse.quote(h) for h in dict.fromkeys(hosts)],
        "search by date and size": ["/search?from=2000&to=2100&min=2&max=9"],
        "search that finds nothing": ["/search?from=2000&to=2100&min=1000000"],
    }
    kinds = {kind: paths for kind, paths in kinds.items() if paths}  # texts without hosts have no searches by host
    times = {kind: [] for kind in kinds}
    sizes = {kind: [] for kind in kinds}
    for i in range(rounds):
        for kind, paths in kinds.items():
            took, body = get(base, paths[i * 7 % len(paths)])
            times[kind].append(1000 * took)
            sizes[kind].append(len(body))
    print("| page | median ms | 95% under | slowest | kB |\n|---|---|---|---|---|")
    for kind, t in times.items():
        t.sort()
        print(f"| {kind} | {statistics.median(t):.1f} | {t[int(0.95 * len(t))]:.1f} | {t[-1]:.1f} | {statistics.median(sizes[kind]) / 1000:.0f} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
