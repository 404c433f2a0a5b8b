"""Runs unit tests of a build tree for another architecture, whose programs the kernel gives to qemu-user.

emulated.py TREE LIST [TEST...]: the tests of the label "unit" that the tree has built; or those named

A line of LIST is "TEST: CASE: REASON" for a case that cannot run there: its program is started without it. CASE is a
pattern of doctest; "*" is the whole test. An entry that no test or case has any more is an error.
Prints each test with the numbers of its cases, the cases that were left out with their reasons, and at the end
"N passed, N failed, N skipped" of cases; a test without doctest counts as one. A skipped case says so by itself.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

CASES = re.compile(r"^\[doctest\] test cases: *(\d+) \| *(\d+) passed \| *(\d+) failed", re.M)
LISTED = re.compile(r"^\[doctest\] unskipped test cases passing the current filters: (\d+)", re.M)
SKIPPED = 77
SECONDS = 1800


class Test(typing.NamedTuple):
    name: str
    command: list
    folder: str
    environment: dict


class Entry(typing.NamedTuple):
    test: str
    case: str
    reason: str


class Outcome(typing.NamedTuple):
    passed: int
    failed: int
    skipped: int
    text: str


def read_entries(text):
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield Entry(*line.split(": ", 2))


def read_tests(listing):
    """The tests in ctest's JSON that have the label and a program."""
    for one in listing["tests"]:
        properties = {each["name"]: each["value"] for each in one["properties"]}
        if "unit" in properties.get("LABELS", []) and os.path.exists(one.get("command", [""])[0]):
            environment = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
            yield Test(one["name"], one["command"], properties.get("WORKING_DIRECTORY", "."), environment)


def start(test, *options):
    return subprocess.run([*test.command, *options], cwd=test.folder, env={**os.environ, **test.environment}, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)


def without(entries):
    """Commas separate patterns in doctest, so one in a name is written as "?"."""
    return ["--test-case-exclude=" + ",".join(one.case.replace(",", "?") for one in entries)] if entries else []


def run(test, entries):
    try:
        ended = start(test, *without(entries))
    except subprocess.TimeoutExpired:
        return Outcome(0, 1, 0, f"no end after {SECONDS} s")
    counts = CASES.search(ended.stdout)
    skipped = int(ended.returncode == SKIPPED)
    if not counts:
        return Outcome(int(ended.returncode == 0), int(ended.returncode not in (0, SKIPPED)), skipped, ended.stdout)
    passed, failed = int(counts[2]) - skipped, int(counts[3])
    return Outcome(passed, failed or int(ended.returncode not in (0, SKIPPED)), skipped, ended.stdout)


def check_entries(tests, entries):
    """Entries without a test or a case."""
    names = {test.name: test for test in tests}
    for one in entries:
        if one.test not in names:
            yield f"{one.test}: there is no such test in this tree"
        elif one.case != "*":
            listed = LISTED.search(start(names[one.test], "--list-test-cases", "--test-case=" + one.case.replace(",", "?")).stdout)
            if not listed or listed[1] == "0":
                yield f"{one.test}: {one.case}: there is no such case"


def say(test, outcome):
    verdict = "FAIL" if outcome.failed else "skip" if outcome.skipped and not outcome.passed else "ok"
    print(f"  {verdict:5} {test.name}: {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped", flush=True)
    if outcome.failed or outcome.skipped:
        print("".join(f"          | {line}\n" for line in outcome.text.splitlines()[-40:]), end="", flush=True)


def main():
    tree, entries = pathlib.Path(sys.argv[1]), list(read_entries(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
    listing = json.loads(subprocess.check_output(["ctest", "--test-dir", tree, "--show-only=json-v1"]))
    tests = [test for test in read_tests(listing) if not sys.argv[3:] or test.name in sys.argv[3:]]
    errors = [] if sys.argv[3:] else list(check_entries(tests, entries))
    whole = {one.test for one in entries if one.case == "*"}
    tests = [test for test in tests if test.name not in whole]
    if not tests:
        sys.exit("no test of this tree is built")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda test: run(test, [one for one in entries if one.test == test.name]), tests))
    for test, outcome in zip(tests, outcomes):
        say(test, outcome)
    print("left out:")
    for one in entries:
        print(f"  {one.test}: {one.case}: {one.reason}")
    print("".join(f"FAIL  {one}\n" for one in errors), end="")
    print(f"{sum(one.passed for one in outcomes)} passed, {sum(one.failed for one in outcomes) + len(errors)} failed, "
          f"{sum(one.skipped for one in outcomes)} skipped")


if __name__ == "__main__":
    main()
