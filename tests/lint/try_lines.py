"""TRY is a whole statement or a whole initialiser, one a line.

Inside a braced initialiser compilers skip the destructors of what was built before it, and a nested TRY shadows the
outer one. So before TRY stands nothing, `NAME =` or the name of what is made from it alone; behind it the statement ends.
"""

import re

import source

# The text that may be between the start of a statement and TRY.
BEFORE = re.compile(
    r"^(?:(?:if|for|while)\s*\(.*\)\s*|else\b\s*)*"  # a condition; the statement is what it guards
    r"(?:return\s+[\w:]+\(|return\s+|[\w:<>,&*\s.\[\]\->]+=\s*(?:[\w:]+\()?|[\w:<>,&*\s]+\()?$", re.S)


def starts_statement(content, at):
    """The text between the start of the statement that holds `at` and `at`."""
    depth, start = 0, 0
    for i in range(at - 1, -1, -1):
        c = content[i]
        if c == ")":
            depth += 1
        elif c == "(" and depth > 0:
            depth -= 1
        elif c in ";{}" and depth == 0:
            start = i + 1
            break
    before = content[start:at].strip()
    return re.sub(r"^(?:(?:public|private|case [\w:]+|default)\s*:\s*)+", "", before)


def judge(content, match):
    opening = match.end() - 1
    before = starts_statement(content, match.start())
    if not BEFORE.match(before):
        return f"stands behind '{' '.join(before.split())[-50:]}'"
    unclosed = before.count("(") - before.count(")")
    rest = content[source.matching(content, opening) + 1:][:10].lstrip()
    if not rest.startswith(")" * unclosed + ";"):
        return "is not the whole of its statement or initialiser"
    return None


def check(name, content):
    lines = set()
    for match in re.finditer(r"\bTRY\(", content):
        line = source.line_of(content, match.start())
        if content.split("\n")[line - 1].lstrip().startswith("#define"):
            continue
        wrong = "is the second one of its line" if line in lines else judge(content, match)
        lines.add(line)
        if wrong:
            yield f"{name}:{line}: TRY {wrong}"


def main():
    findings = []
    for name in source.cpp_files():
        findings += check(name, source.code(name))
    source.finish(findings, "try_lines")


if __name__ == "__main__":
    main()
