"""README, docs and the chart's alerts quote our programs as they are: metrics, with the labels and values of selectors such as
ibpod_sm_ports{state="unseen"}; the values that docs/metrics.md lists for labels; the numbers of CNI errors.
"""

import re

import documents
import source

METRIC = re.compile(r"\bibpod_[a-z_]+\b(?![*_…])(?:\{([^}]*)\})?")
PAIR = re.compile(r"(\w+)(?:=~?|!=)\"([^\"]*)\"")
DERIVED = re.compile(r"_(?:bucket|sum|count)$")
# In the source a metric begins a list: its name, its help.
DEFINED = re.compile(r"\{\s*\"(ibpod_[a-z_]+)\",")
ALERTS = "charts/ibpod/files/alerts.yaml"
CODES = "lib/cni/errors.h"
VALUES = "\n| label | values |\n"


def check_metrics(name, content, known, said):
    """`known`: the names; `said`: every string of the programs, in quotes."""
    for match in METRIC.finditer(content):
        metric = match.group(0).partition("{")[0]
        line = source.line_of(content, match.start())
        if not metric.endswith("_") and metric not in known and DERIVED.sub("", metric) not in known:
            yield f"{name}:{line}: there is no metric {metric}"
        for label, value in PAIR.findall(match.group(1) or ""):
            for word in (label, *value.split("|")):
                if f'"{word}"' not in said:
                    yield f"{name}:{line}: {metric}: no program says \"{word}\""


def tables(content, header):
    for begin in re.finditer(re.escape(header), content):
        end = content.find("\n\n", begin.end())
        yield begin.end(), content[begin.end():end if end >= 0 else len(content)]


def check_values(name, content, said):
    """Words in backquotes in the second column; what has a dot, a slash or a capital letter is no value but where one comes from."""
    for start, table in tables(content, VALUES):
        for row in re.finditer(r"^\| (.*?) \| (.*) \|$", table, re.M):
            for word in re.findall(r"(?<!\[)`([a-z][a-z0-9_ -]*)`", row.group(2)):
                if f'"{word}"' not in said and not re.search(r"counters$|^ibpod", word):
                    yield f"{name}:{source.line_of(content, start + row.start())}: {row.group(1)}: no program says \"{word}\""


def codes(text):
    return {int(number) for number in re.findall(r"^  k\w+ = (\d+),$", text, re.M)}


def check_codes(name, content, known):
    for start, table in tables(content, "\n| code | meaning | typical reasons |\n"):
        told = {int(number) for number in re.findall(r"^\| (\d+) \|", table, re.M)}
        for code in sorted(known ^ told):
            yield f"{name}:{source.line_of(content, start)}: error {code} is " + ("unknown" if code in told else "missing")


def main():
    texts = "\n".join(source.text(name) for name in source.cpp_files()
                      if not name.startswith("tests/") and not name.endswith("_test.cc"))
    known, said, numbers = set(DEFINED.findall(texts)), documents.spoken(), codes(source.text(CODES))
    findings = [] if numbers and known else ["nothing is found to compare with"]
    findings += check_metrics(ALERTS, source.text(ALERTS), known, said)
    for name in source.files(".md"):
        if name == "README.md" or name.startswith("docs/"):
            content = source.text(name)
            findings += check_metrics(name, content, known, said)
            findings += check_values(name, content, said)
            findings += check_codes(name, content, numbers)
    source.finish(findings, "quotations")


if __name__ == "__main__":
    main()
