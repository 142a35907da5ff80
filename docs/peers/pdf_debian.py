#!/usr/bin/env python3
"""Real PDF documents: a crawl of those in Debian packages, and their text beside that of pdftotext.

    pdf_debian.py make OUT.warc.gz DIR [DIR ...]     every .pdf and .html file below a DIR, each DIR a host
    pdf_debian.py compare NEARDUP OUT.warc.gz        words and runs of five words, by document; needs poppler-utils

A DIR is a package that was unpacked (apt-get download PACKAGE; dpkg-deb -x PACKAGE.deb DIR). Files of the same
bytes are taken once. Needs the Python package warcio.
"""
import collections, gzip, hashlib, io, json, os, re, resource, statistics, subprocess, sys, tempfile

def make(out, dirs):
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
    seen, kinds = set(), collections.Counter()
    with open(out, "wb") as f:
        w = WARCWriter(f, gzip=True)
        for d in dirs:
            host = re.sub(r"[^a-z0-9-]", "-", os.path.basename(d.rstrip("/")).split("_")[0].lower()) + ".deb.test"
            for top, subs, names in os.walk(d):
                subs.sort()
                for n in sorted(names):
                    path = os.path.join(top, n)
                    kind = n.rsplit(".", 1)[-1]
                    if kind not in ("pdf", "html") or not os.path.isfile(path):
                        continue
                    body = open(path, "rb").read()
                    digest = hashlib.sha1(body).digest()
                    if digest in seen:
                        continue
                    seen.add(digest)
                    kinds[kind] += 1
                    headers = StatusAndHeaders("200 OK", [("Content-Type", "application/pdf" if kind == "pdf" else "text/html")], protocol="HTTP/1.1")
                    w.write_record(w.create_warc_record(f"http://{host}/{os.path.relpath(path, d)}", "response", payload=io.BytesIO(body), http_headers=headers))
    print(dict(kinds))

def words(text):
    return re.findall(r"\w+", text.lower())

def overlap(a, b):
    """Share of a's items that b has too."""
    common = sum((collections.Counter(a) & collections.Counter(b)).values())
    return common / len(a) if a else 1.0

def cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime

def compare(neardup, warc):
    from warcio.archiveiterator import ArchiveIterator
    before = cpu()
    r = subprocess.run([neardup, "text", "--progress", "none", "--workers", "1", warc], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    ours_cpu = cpu() - before
    texts = {}
    for line in r.stdout.decode().splitlines():
        d = json.loads(line)
        texts[d["uri"]] = d["text"]
    sys.stderr.write(r.stderr.decode())
    documents = pages = both = neither = 0
    only = collections.Counter()
    theirs_cpu, rows = 0.0, []
    with open(warc, "rb") as f, tempfile.NamedTemporaryFile(suffix=".pdf") as tmp:
        for rec in ArchiveIterator(f):
            if rec.rec_type != "response" or rec.http_headers.get_header("Content-Type") != "application/pdf":
                continue
            uri = rec.rec_headers.get_header("WARC-Target-URI")
            tmp.seek(0); tmp.truncate(); tmp.write(rec.content_stream().read()); tmp.flush()
            documents += 1
            info = subprocess.run(["pdfinfo", tmp.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
            n = re.search(r"^Pages:\s+(\d+)", info, re.M)
            pages += int(n.group(1)) if n else 0
            before = cpu()
            p = subprocess.run(["pdftotext", "-enc", "UTF-8", tmp.name, "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            theirs_cpu += cpu() - before
            a, b = words(texts.get(uri, "")), words(p.stdout.decode(errors="replace"))
            if not a or not b:
                if a: only["neardup"] += 1
                elif b: only["pdftotext"] += 1; print("no text here, in pdftotext", len(b), "words:", uri)
                else: neither += 1
                continue
            both += 1
            fives = lambda w: list(zip(w, w[1:], w[2:], w[3:], w[4:]))
            rows.append((overlap(b, a), overlap(a, b), overlap(fives(b), fives(a)), uri, len(b)))
    print(f"{documents} documents, {pages} pages: text in both {both}, in neither {neither}, in one only {dict(only)}")
    for i, name in enumerate(["words of pdftotext found here", "words found here that pdftotext has", "runs of 5 words of pdftotext found here"]):
        v = sorted(r[i] for r in rows)
        print(f"{name}: median {statistics.median(v):.4f}, tenth {v[len(v)//10]:.4f}, least {v[0]:.4f}; of all {sum(r[i]*r[4] for r in rows)/sum(r[4] for r in rows):.4f}")
    print(f"cpu seconds: neardup {ours_cpu:.1f} ({pages/ours_cpu:.0f} pages/s, with reading the WARC and its HTML), pdftotext {theirs_cpu:.1f} ({pages/theirs_cpu:.0f} pages/s, a process each)")
    for r in sorted(rows)[:12]:
        print("  %.3f %.3f %.3f %s %d" % r)

if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "make": make(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[1] == "compare": compare(*sys.argv[2:])
    else: sys.exit(__doc__)
