"""The things that a comment or a page names exist: files; the types and functions in docs/architecture.md; the types of members
in comments; fuzz targets.

A file is named by its path from the root, by the end of its path ("base/nearest.h"), or by its name alone ("restore.h").
Files of other projects are listed in FOREIGN.
"""

import re

import source

OURS = ("agent/", "api/", "charts/", "cmake/", "cni/", "ctl/", "device-plugin/", "docs/", "images/", "lib/", "manifests/", "packages/", "sm/", "tests/")
ENDINGS = ("cc", "h", "py", "sh", "proto", "awk", "cmake", "md")
FILE = re.compile(r"(?<![\w./*{}$<+-])([\w+][\w./+-]*\.(?:" + "|".join(ENDINGS) + r"))(?![\w/])")
CPP_COMMENT = re.compile(r"//[^\n]*")
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
ARCHITECTURE = "docs/architecture.md"
PARSERS = "docs/security-tests.md"
# Files of other projects, and names that stand for any file; with the reason.
FOREIGN = (
    (r"osm_\w+\.h|ib_types\.h", "OpenSM"),
    (r"(?:include|linux|uapi)/.*\.h", "the kernel"),
    (r"doctest/doctest\.h|httplib\.h|sqlite3\.h|grpc/doc/[\w-]+\.md", "a library"),
    (r"(?:lib/kube/)?x(?:_\w+)?\.(?:cc|(?:grpc\.)?pb\.h)|[ab]\.cc|(?:.*/)?NAME\.sh|ROOT/.*", "stands for a file"),
    (r"_(?:test|fuzz|bench)\.cc|-fuzz\.cc", "an ending"),
)
# Folders in which the files of other projects are listed.
ELSEWHERE = ("tests/data/", "tests/softhca/", "tests/lint/mentions.py", "tests/lint/rules_test.py")
# `Type`, `Type::method`, `folder::function`.
NAMED = re.compile(r"`((?:[A-Za-z]\w*::)+[a-z]\w*|[A-Z]\w*[a-z]\w*)(?:\(\))?`")
SCOPE = re.compile(r"(?<![\w:])([A-Z]\w*[a-z]\w*)::\w")


def comments(name, content):
    if name.endswith((".cc", ".h", ".proto")):
        return CPP_COMMENT.finditer(content)
    if name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or "." not in name.rsplit("/", 1)[-1]:
        return HASH_COMMENT.finditer(content)
    return re.finditer(r"(?s).+", content) if name.endswith(".md") else ()


def is_foreign(path):
    return any(re.fullmatch(pattern, path) for pattern, _ in FOREIGN)


def ends_of(names):
    """Every path, and every end of one: a/b/c.h, b/c.h, c.h."""
    return {name.split("/", cut)[-1] for name in names for cut in range(name.count("/") + 1)}


def is_there(path, names, ends):
    return path in (names if path.startswith(OURS) else ends)


def check_files(name, content, names):
    ends = ends_of(names)
    for comment in comments(name, content):
        for match in FILE.finditer(comment.group()):
            path = match.group(1)
            if not is_there(path, names, ends) and not is_foreign(path):
                yield f"{name}:{source.line_of(content, comment.start() + match.start())}: there is no {path}"


class Code:
    """The types, functions and namespaces that the sources define."""

    def __init__(self, text):
        self.types = set(re.findall(r"\b(?:class|struct|enum|using|service|message)\s+(?:class\s+)?(?:\[\[\w+\]\]\s+)?(\w+)", text))
        self.members = set(re.findall(r"\b(\w+::\w+)\b", text))
        self.functions = set(re.findall(r"\b(\w+)\(", text))
        self.namespaces = {part for found in re.findall(r"\bnamespace ([\w:]+)", text) for part in found.split("::")}

    def has(self, named):
        """Looks for the last two parts of `a::b::C::d`."""
        *scope, last = named.split("::")
        if not scope:
            return last in self.types
        if scope[-1][0].isupper():
            return scope[-1] + "::" + last in self.members
        return scope[-1] in self.namespaces and last in (self.functions | self.namespaces)


def check_types(name, content, code):
    for match in NAMED.finditer(content):
        if not code.has(match.group(1)):
            yield f"{name}:{source.line_of(content, match.start())}: the code has no {match.group(1)}"


def check_scopes(name, content, code):
    """`Type::member` in a comment: the type exists."""
    for comment in comments(name, content):
        for match in SCOPE.finditer(comment.group()):
            if match.group(1) not in code.types:
                yield f"{name}:{source.line_of(content, comment.start() + match.start())}: the code has no type {match.group(1)}"


def check_fuzz_targets(name, content, names):
    """The last column of the table of parsers names every fuzz target, and nothing else."""
    rows = re.search(r"^\| parser \|.*\n\|[-|]+\n((?:\|.*\n)+)", content, re.M)
    named = set(re.findall(r"`(\w+)`", "".join(row.rsplit("|", 2)[1] for row in rows.group(1).splitlines()))) if rows else set()
    targets = {path.rsplit("/", 1)[-1].removesuffix("_fuzz.cc") for path in names if path.endswith("_fuzz.cc")}
    yield from (f"{name}: there is no fuzz target {one}" for one in sorted(named - targets))
    yield from (f"{name}: the fuzz target {one} is missing" for one in sorted(targets - named))


def main():
    names = set(source.files())
    findings = []
    for name in sorted(names):
        if not name.startswith(ELSEWHERE):
            findings += check_files(name, source.text(name), names)
    code = "\n".join(source.code(name) for name in [*source.cpp_files(), *source.files(".proto")])
    code = Code(code)
    findings += check_types(ARCHITECTURE, source.text(ARCHITECTURE), code)
    for name in source.cpp_files():
        findings += check_scopes(name, source.text(name), code)
    findings += check_fuzz_targets(PARSERS, source.text(PARSERS), names)
    source.finish(findings, "mentions")


if __name__ == "__main__":
    main()
