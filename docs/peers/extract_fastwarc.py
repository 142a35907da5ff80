#!/usr/bin/env python3
"""Visible text of the HTML pages of WARC files on one core: FastWARC with Resiliparse or lexbor.

usage: extract_fastwarc.py [--parser resiliparse|lexbor] [--main] [--repeat N] [--texts FILE] WARC...

Prints a line of JSON for each repetition. MB are millions of bytes of HTML without codings;
rates are by processor seconds.
"""
import argparse
import json
import resource
import time

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

HTML = {"text/html", "application/xhtml+xml"}

# What a browser does not show. Resiliparse leaves it out itself.
UNSEEN = ["head", "script", "style", "template", "noscript", "noframes", "noembed", "iframe", "object",
          "audio", "video", "canvas", "svg", "select", "datalist"]


def pages(stream):
    """Record id, decoded body and charset of the HTML pages with status 200."""
    for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True,
                                  auto_decode="all", inplace=True):
        if not record.is_http_parsed or record.http_headers.status_code != 200:
            continue
        if (record.http_content_type or "").lower() in HTML:
            body = record.reader.read()
            # As declared in HTTP, else in a meta element, else what uchardet makes of it.
            yield record.record_id, body, record.http_charset or detect_encoding(body, from_html_meta=True)


def resiliparse(body, charset, main_content=False):
    return extract_plain_text(bytes_to_str(body, charset), preserve_formatting=True, list_bullets=False,
                              alt_texts=False, main_content=main_content)


def resiliparse_main(body, charset):
    return resiliparse(body, charset, main_content=True)


def lexbor(body, charset):
    page = body if charset == "utf-8" else bytes_to_str(body, charset)  # it parses UTF-8 as it stands
    tree = LexborHTMLParser(page, options=LexborDocumentOptions.WO_EVENTS.value)
    tree.strip_tags(UNSEEN, recursive=True)
    return tree.body.text(separator="\n", strip=True, skip_empty=True) if tree.body is not None else ""


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("warc", nargs="+")
    p.add_argument("--parser", choices=["resiliparse", "lexbor"], default="resiliparse")
    p.add_argument("--main", action="store_true", help="Resiliparse's main content only")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--texts", help="write the texts as JSON lines instead")
    o = p.parse_args()
    if o.main and o.parser != "resiliparse":
        p.error("--main is Resiliparse's")
    text_of = resiliparse_main if o.main else globals()[o.parser]
    if o.texts:
        with open(o.texts, "w", encoding="utf-8") as out:
            for path in o.warc:
                for record_id, body, charset in pages(path):
                    out.write(json.dumps({"id": record_id, "text": text_of(body, charset)}, ensure_ascii=False) + "\n")
        return
    for _ in range(o.repeat):
        count = html = text = 0
        cpu, wall = time.process_time(), time.perf_counter()
        for path in o.warc:
            for _, body, charset in pages(path):
                count += 1
                html += len(body)
                text += len(text_of(body, charset))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(json.dumps({
            "name": "FastWARC + " + o.parser + (" main content" if o.main else ""), "pages": count,
            "html_MB": round(html / 1e6, 2), "text_Mchars": round(text / 1e6, 2),
            "cpu_s": round(cpu, 3), "wall_s": round(wall, 3),
            "MB/s": round(html / 1e6 / cpu, 1), "pages/s": round(count / cpu, 1),
            "peak_MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }), flush=True)


if __name__ == "__main__":
    main()
