"""No function is longer than 60 lines. Works on formatted code."""

import re

import source

MOST = 60
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")


def functions(content):
    """The (line, length) of every function, lambdas counted with the function around them."""
    at = 0
    while (opening := content.find("{", at)) >= 0:
        start = max(content.rfind(c, 0, opening) for c in ";{}") + 1
        header = re.sub(r"^\s*#.*$", "", content[start:opening], flags=re.M).strip()
        if not header or SCOPE.search(header):
            at = opening + 1
            continue
        closing = source.matching(content, opening)
        if "(" in header and not header.rstrip().endswith("="):
            first = start + len(content[start:opening]) - len(content[start:opening].lstrip())
            yield source.line_of(content, first), content.count("\n", first, closing) + 1
        at = closing + 1


def main():
    findings = []
    for name in source.cpp_files():
        for line, length in functions(source.code(name)):
            if length > MOST:
                findings.append(f"{name}:{line}: a function of {length} lines; at most {MOST}")
    source.finish(findings, "function_length")


if __name__ == "__main__":
    main()
