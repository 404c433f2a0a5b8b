"""Every #include points downwards, as the table in docs/architecture.md has it.

A folder includes its own headers and those of folders on lower levels, never a sibling's. Headers of others (libnl, the
kernel, nlohmann ...) are for the folders whose row names them. What a folder declares is in its namespace: sm/bindings
declares ibpod::sm::bindings.
"""

import fnmatch
import re

import source

TABLE = "docs/architecture.md"
ROW = re.compile(r"^\| `([^`]+)` \| (\d+) \|[^|]*\|([^|]*)\|", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
C_LIBRARY = ("sys", "net", "netinet", "arpa", "bits")
TEST = re.compile(r"_(test|fuzz|bench)\.cc$|/test_\w+\.h$")
SUPPORT = ("tests/support", "tests/support/ufm")
GENERATED = re.compile(r"(\.grpc)?\.pb\.h$")
NAMESPACE = re.compile(r"^namespace (ibpod[\w:]*) \{\n((?:(?!^\}).*\n)*)", re.M)
DECLARATIONS = re.compile(r"(\s*(class|struct|enum class) \w+( : \w+)?;|\s*//.*)*\s*")
# Folders whose namespace is not the path of the folder, and why.
NAMESPACES = {
    "lib/base": "ibpod",  # Result, TRY, Fd, Deadline: the words of every line
    "cni/ib-sriov": "ibpod::ib_sriov",  # a plugin is a program: its name is enough, as with lib/
    "cni/ipoib": "ibpod::ipoib",
    # Below tests/ a program names its own; these folders share theirs with others.
    "tests/contract": "ibpod::contract",
    "tests/support/multus": "ibpod::multus",
    "tests/support/ufm": "ibpod::fake_ufm",
    "tests/vm": "ibpod::vm",
    "tests/vm/probes": "ibpod::probes",
}


class Folder:
    def __init__(self, pattern, level, foreign):
        self.pattern = pattern
        self.level = int(level)
        self.foreign = re.findall(r"`<([^/>]+)/", foreign)


def read_table():
    return [Folder(*row) for row in ROW.findall(source.text(TABLE))]


def folder_of(table, path):
    parent = path.rsplit("/", 1)[0]
    exact = [row for row in table if row.pattern == parent]
    loose = [row for row in table if fnmatch.fnmatch(parent, row.pattern)]
    return (exact or loose or [None])[0], parent


def judge_own(table, name, here, parent, included):
    """A file that is generated from a .proto has the folder of that."""
    included = GENERATED.sub(".proto", included)
    if not (source.ROOT / included).is_file():
        return "no such file below the root"
    there, other = folder_of(table, included)
    if there is None:
        return f"{TABLE} has no row for its folder"
    is_test = TEST.search(name) or name.startswith("tests/")
    if TEST.search(included) and not is_test:
        return "it is for tests"
    if other == parent or there.level < here.level:
        return None
    if TEST.search(name) and other in SUPPORT:
        return None
    return f"{other} is on level {there.level}, {parent} on {here.level}"


def namespace_of(folder):
    """The namespace of what a folder declares. None: a folder of tests whose programs name their own."""
    if folder in NAMESPACES:
        return NAMESPACES[folder]
    if folder.startswith("tests"):
        return None
    return "::".join(["ibpod", *folder.removeprefix("lib/").replace("-", "_").split("/")])


def judge_namespaces(name, parent, content):
    """A forward declaration of another folder's type is in that folder's namespace."""
    wanted = namespace_of(parent)
    findings = []
    for found, body in NAMESPACE.findall(content):
        inner = TEST.search(name) and found == f"{wanted}::test"
        if wanted and found != wanted and not inner and not DECLARATIONS.fullmatch(body):
            findings.append(f"{name}: namespace {found}: its folder's is {wanted}")
    return findings


def judge_foreign(name, here, included):
    if "/" not in included:
        return None
    vendor = included.split("/")[0]
    if vendor in C_LIBRARY or vendor in here.foreign:
        return None
    is_test = TEST.search(name) or name.startswith("tests/")
    if is_test and vendor in ("doctest", "benchmark", "linux", "rdma"):
        return None
    if vendor == "CLI" and name.endswith("/main.cc"):
        return None
    return f"<{vendor}/...> is not for this folder"


def main():
    table = read_table()
    findings = [] if table else [f"{TABLE}: no table of levels"]
    seen = set()
    for name in source.cpp_files() + source.files(".proto") if table else []:
        here, parent = folder_of(table, name)
        if here is None:
            findings.append(f"{name}: {TABLE} has no row for {parent}")
            continue
        seen.add(here.pattern)
        findings += judge_namespaces(name, parent, source.text(name)) if not name.endswith(".proto") else []
        for kind, included in INCLUDE.findall(source.text(name)):
            own = kind == '"'
            wrong = judge_own(table, name, here, parent, included) if own else judge_foreign(name, here, included)
            if wrong:
                findings.append(f"{name}: {included}: {wrong}")
    findings += [f"{TABLE}: {row.pattern} holds no source" for row in table if row.pattern not in seen]
    source.finish(findings, "layering")


if __name__ == "__main__":
    main()
