"""The version is set in CMakeLists.txt; where a page, a manifest or a script repeats it, it is the same."""

import re

import source

SET = re.compile(r"^project\(ibpod .*VERSION ([\d.]+)\)$", re.M)
# The tags of the images, the chart's version, and what README and CHANGELOG call the version at hand.
REPEATED = re.compile(r"""ibpod/(?:agent|sm):(\d[\w.-]*)|^(?:appV|v)ersion: "?(\d[\w.-]*)|newTag: "([^"]*)"|Status: version ([\d.]*\d)|## \[Unreleased\]: ([\d.]*\d)""", re.M)


def check(name, content, version):
    for match in REPEATED.finditer(content):
        found = next(filter(None, match.groups()))
        if found != version:
            yield f"{name}:{source.line_of(content, match.start())}: version {found}, and CMakeLists.txt has {version}"


def main():
    version = SET.search(source.text("CMakeLists.txt"))[1]
    findings = []
    for name in source.files(".md", ".yaml", ".sh"):
        findings += check(name, source.text(name), version)
    source.finish(findings, "version")


if __name__ == "__main__":
    main()
