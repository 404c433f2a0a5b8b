"""The targets of references in documents and comments exist: headings, files, the names said to be in them, and the tests
that the notes name; no note is without one. Examples are JSON.

Nothing names a path of the machine of one developer.
"""

import json
import re

import source

LINK = re.compile(r"(?<![\w/])((?:docs/)?[\w-]+\.md)#([\w-]+)")
# A path of this tree in backquotes; also with a star.
NAMED = re.compile(r"`((?:agent|api|cmake|cni|ctl|demo|device-plugin|docs|images|lib|manifests|sm|tests|\.ci)/[\w./*-]+)`")
HERE = re.compile(r"\]\(#([\w-]+)\)")
# `name` in `file`, `name` and `name` in `file`, `name` (`file`).
PLACED = re.compile(r"`([\w:]+)(?:\(\))?`(?: and\s+`([\w:]+)(?:\(\))?`)?\s+(?:in\s+|\()`((?:agent|cni|ctl|device-plugin|lib|sm|tests)/[\w./-]+)`")
NOTES = "docs/kernel-notes.md"
MODEL = "tests/support/"
TESTED = re.compile(r"^Shown by( \(model\))?:(.*?)(?=\n\n|\Z)", re.M | re.S)
QUOTED = re.compile(r"`([^`]+)`(?: \(\"([^\"]+)\"\))?")
PRIVATE = re.compile(r"(?<![\w.])/(?:home|root|work)/\w")
# Licences come from foreign hands.
FOREIGN = ("LICENSE", "NOTICE", "tests/softhca/LICENSE", "tests/data/", "tests/lint/notes.py")


def anchor(heading):
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.strip().replace(" ", "-")


def anchors(name):
    return {anchor(found) for found in re.findall(r"^#+ (.+)$", source.text(name), re.M)}


def exists(path):
    return any(source.ROOT.glob(path.rstrip("/"))) if "*" in path else (source.ROOT / path).exists()


def check_links(name, content):
    known = {}
    for document, heading in LINK.findall(content):
        path = document if "/" in document or (source.ROOT / document).is_file() else "docs/" + document
        if not (source.ROOT / path).is_file():
            yield f"{name}: there is no {path}"
            continue
        if path not in known:
            known[path] = anchors(path)
        if heading not in known[path]:
            yield f"{name}: {path} has no heading #{heading}"
    if name.endswith(".md"):
        own = {anchor(found) for found in re.findall(r"^#+ (.+)$", content, re.M)}
        yield from (f"{name}: it has no heading #{heading}" for heading in HERE.findall(content) if heading not in own)


def check_places(name, content):
    """A function or a type is in the file in which it is said to be."""
    for match in PLACED.finditer(content):
        *names, path = match.groups()
        for one in filter(None, names):
            if exists(path) and not re.search(rf"\b{one.rsplit('::', 1)[-1]}\b", source.text(path)):
                yield f"{name}:{source.line_of(content, match.start())}: {path} has no {one}"


def check_every_note(content):
    """Under each "###" of the notes something shows it; on the model alone only where that is said."""
    for note in re.split(r"^### ", content, flags=re.M)[1:]:
        title, shown = note.split("\n", 1)[0], TESTED.search(note)
        if not shown:
            yield f"{NOTES}: nothing is said to show \"{title}\""
            continue
        paths = [path for path, _ in QUOTED.findall(shown.group(2))]
        if not shown.group(1) and all(path.startswith(MODEL) for path in paths):
            yield f"{NOTES}: only the model shows \"{title}\": \"Shown by (model)\""


def check_tests(name, content):
    """Under "Shown by:" a file, and in brackets the name of a test in it."""
    for _, shown in TESTED.findall(content):
        for path, test in QUOTED.findall(shown):
            if not exists(path):
                yield f"{name}: there is no test {path}"
                continue
            squeezed = re.sub(r'"\s*"', "", source.text(path)) if test else ""
            if test and test not in squeezed:
                yield f"{name}: {path} has no test \"{test}\""


def check_examples(name, content):
    for match in re.finditer(r"^```json\n(.*?)^```", content, re.M | re.S):
        try:
            json.loads(match.group(1))
        except ValueError as error:
            yield f"{name}:{source.line_of(content, match.start())}: no JSON: {error}"


def check_private(name, content):
    for match in PRIVATE.finditer(content):
        yield f"{name}:{source.line_of(content, match.start())}: {match.group()}"


def main():
    findings = []
    for name in source.files():
        if name.startswith(FOREIGN):
            continue
        content = source.text(name)
        findings += check_links(name, content)
        findings += check_private(name, content)
        if name.endswith(".md"):
            findings += [f"{name}: there is no {path}" for path in NAMED.findall(content) if not exists(path)]
            findings += check_tests(name, content)
            findings += check_places(name, content)
            findings += check_examples(name, content)
    findings += check_every_note(source.text(NOTES))
    source.finish(findings, "notes")


if __name__ == "__main__":
    main()
