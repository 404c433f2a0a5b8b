"""Which headers and sources cost a build most, by the traces of clang's -ftime-trace below a folder:  headers.py FOLDER

A header's time is that of parsing it and what it includes, in every source where it came first.
"""

import collections
import json
import os
import pathlib
import sys

MOST = 10


def parsed(events):
    """The headers of one source, each with its seconds; one begins and ends inside the other."""
    open_headers = []
    for event in events:
        if event["name"] == "Source" and event["ph"] == "b":
            open_headers.append((os.path.normpath(event["args"]["detail"]), event["ts"]))
        elif event["name"] == "Source" and event["ph"] == "e":
            name, begun = open_headers.pop()
            yield name, (event["ts"] - begun) / 1e6


def main():
    headers, times, sources = collections.Counter(), collections.Counter(), collections.Counter()
    for trace in pathlib.Path(sys.argv[1]).rglob("*.cc.json"):
        events = json.loads(trace.read_text())["traceEvents"]
        for name, seconds in parsed(events):
            headers[name] += seconds
            times[name] += 1
        sources[str(trace.relative_to(sys.argv[1]))] += sum(
            event["dur"] / 1e6 for event in events if event["name"] == "Total ExecuteCompiler")
    print(f"{len(sources)} sources, {sum(sources.values()):.0f} s; the headers that cost most:")
    for name, seconds in headers.most_common(MOST):
        print(f"  {seconds:7.1f} s in {times[name]:4} sources  {name}")
    print("the sources that cost most:")
    for name, seconds in sources.most_common(MOST):
        print(f"  {seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main()
