"""Shared by the lint tests: the tree's files, and C++ text without comments and strings."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL_MODULE = "tests/softhca/"  # C, in the kernel's own style


def files(*endings):
    """Every file of the tree that is not ignored, as paths from the root; also those not yet added."""
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    found = sorted(name for name in set(listed) if name and (ROOT / name).is_file())
    return [name for name in found if not endings or name.endswith(endings)]


def cpp_files():
    return [name for name in files(".cc", ".h") if not name.startswith(KERNEL_MODULE)]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


LITERALS = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.S)


def bare(content):
    """C++ text with comments blanked and strings empty; every line keeps its number."""
    def blank(match):
        found = match.group()
        lines = "\n" * found.count("\n")
        return lines if found.startswith("/") else '""' + lines
    return LITERALS.sub(blank, content)


def code(name):
    return bare(text(name))


def line_of(content, position):
    return content.count("\n", 0, position) + 1


def matching(content, position):
    """The index of the bracket that closes the one at `position`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    opening, closing, depth = content[position], pairs[content[position]], 0
    for at in range(position, len(content)):
        if content[at] == opening:
            depth += 1
        elif content[at] == closing:
            depth -= 1
            if depth == 0:
                return at
    return len(content) - 1


def finish(findings, what):
    """Prints what was found and ends the program."""
    for finding in findings:
        print(finding)
    print(f"{what}: {len(findings)} findings" if findings else f"{what}: ok")
    sys.exit(1 if findings else 0)
