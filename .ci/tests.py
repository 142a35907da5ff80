"""Reads go test -json, prints what go test would print, and which tests were skipped and why.

It fails if a test was skipped for another reason than those that are given as regular expressions.
"""

import json
import re
import sys

allowed = [re.compile(a) for a in sys.argv[1:]]
said: dict[tuple[str, str], list[str]] = {}
skipped: dict[str, list[str]] = {}
unknown = 0
for line in sys.stdin:
    try:
        event = json.loads(line)
    except ValueError:
        print(line, end="")
        continue
    action, package, test = event["Action"], event.get("Package", ""), event.get("Test", "")
    lines = said.setdefault((package, test), [])
    if action == "build-output" or action == "output" and not test:
        if event["Output"] != "PASS\n":
            print(event["Output"], end="", flush=True)
    elif action == "output":
        lines.append(event["Output"])
    elif action == "fail":
        # Of a process that ends in the middle of a test, all tests that had not ended.
        for (p, t), output in said.items():
            if p == package and t and (t == test or not test):
                print("".join(output), end="", flush=True)
                output.clear()
    elif action in ("pass", "skip") and test:
        reason = " ".join(l.strip() for l in lines if not re.match(r"\s*(===|---) ", l))
        reason = re.sub(r"^\S+_test\.go:\d+: ", "", reason)
        if action == "skip":
            skipped.setdefault(reason or "no reason", []).append(f"{package} {test}")
            unknown += not any(a.search(reason) for a in allowed)
        lines.clear()
for reason, tests in skipped.items():
    print(f"skipped: {reason}: {', '.join(tests)}")
if unknown:
    sys.exit(f"{unknown} tests were skipped, which here none may be for such a reason")
