"""Messages, comments, names and pages are in the field's words and in plain English.

The words below are metaphors, or pronouns where a noun belongs. They are found in any case, as a plural, and as a part of
a name in C++ or in a metric. What is on disk, on the wire or in a metric keeps its name if it is listed with its reason.
Tests outside the folders of the code (tests/) are free.

No comment begins with a clause in the place of a noun ("What the pod has", "Whether it is up", "Of a VF: its port"): it
says what a thing is, or begins with "True if", "If" or "For". This holds in tests/, too.
"""

import re

import source

FOLDERS = ("agent/", "api/", "charts/", "cni/", "ctl/", "device-plugin/", "docs/", "images/", "lib/", "manifests/", "packages/", "sm/", "tests/lint/")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CMakeLists.txt", "demo", "check")
# Files that have the words because they are about them.
OWN = ("tests/lint/words.py", "tests/lint/rules_test.py")
# The word, and what to say instead.
WORDS = {
    "steward": "controller",
    "ledger": "registry",
    "sightings": "observations",
    "patience": "timeout or deadline",
    "tenancy": "partition",
    "tenancies": "partitions",
    "hindrance": "fault",
    "stranger": "unauthorized caller",
    "whoever": "the caller, the user, the process",
    "whomever": "the caller, the user, the process",
    "nobody": "no caller, no port, unassigned",
    "somebody": "another process, a user",
    "anew": "again",
    "is to be had": "is available",
    "is to be seen": "is visible",
    "well again": "resolved",
    "he": "the user, they, it",
    "him": "the user, them, it",
    "his": "the user's, their, its",
}
# A pronoun is a word of its own; the others also begin a part of a name: StewardSettings, is_nobody, strangers_total.
WHOLE = ("he", "him", "his")


def pattern(words):
    return "|".join(words).replace(" ", r"\s+(?:// )?")


SAID = re.compile(r"(?<![A-Za-z])(?:(?:(?i:" + pattern(word for word in WORDS if word not in WHOLE) + r"))s?(?![a-z])"
                  r"|(?:[Hh](?:e|im|is))(?![\w\-]))")
CAMEL = re.compile(r"(?<=[a-z])(?:" + "|".join(word.capitalize() for word in WORDS if word not in WHOLE and " " not in word)
                   + r")s?(?![a-z])")
# (file, what is found): why it stays.
ALLOWED = {
    ("CHANGELOG.md", "strangers"): "the name that a metric had before",
}


COMMENT_OPENING = re.compile(r"(?:Of|Who|Whom|Whose|Whoever|What|Whatever|Whether|Where|Wherever)\b")
# Folders and files in which comments may begin so, with the reason.
OPENINGS_ALLOWED = {
    "tests/data/": "files of other projects, and recorded ones",
    "tests/softhca/": "a kernel module, with the kernel's own comments",
    "tests/lint/rules_test.py": "it has them to be found",
}
HASH_COMMENT = re.compile(r"(?:^[ \t]*|(?<=\s))#(?!!)[ \t]*(.*)", re.M)
DOCSTRING = re.compile(r'^[ \t]*"""(.*)', re.M)


def advice(found):
    words = re.sub(r"\s+(?:// )?", " ", found.lower())
    return WORDS.get(words) or WORDS[words.removesuffix("s")]


def check(name, content):
    for match in sorted([*SAID.finditer(content), *CAMEL.finditer(content)], key=lambda one: one.start()):
        found = match.group()
        if (name, found.lower()) not in ALLOWED:
            yield f"{name}:{source.line_of(content, match.start())}: \"{' '.join(found.split())}\": say {advice(found)}"


def comments(name, content):
    """The position and the text of each comment's first line; a comment is all lines without code between them."""
    if name.endswith((".cc", ".h", ".proto", ".go")):
        mark = "//"
        found = [(match.start(), match.group()[2:].strip()) for match in source.LITERALS.finditer(content)
                 if match.group().startswith("//")]
    elif name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or "." not in name.rsplit("/", 1)[-1]:
        mark = "#"
        found = [(match.start(), match.group(1)) for match in HASH_COMMENT.finditer(content)]
        found += [(match.start(), match.group(1)) for match in DOCSTRING.finditer(content) if name.endswith(".py")]
    else:
        return
    lines = content.split("\n")
    for start, text in found:
        number = source.line_of(content, start)
        above = lines[number - 2].lstrip() if number > 1 else ""
        alone = lines[number - 1].lstrip().startswith(mark)
        if not (alone and above.startswith(mark) and not above.startswith("#!")):
            yield start, text


def check_openings(name, content):
    for start, text in comments(name, content):
        found = COMMENT_OPENING.match(text)
        if found:
            yield f"{name}:{source.line_of(content, start)}: a comment begins with \"{found.group()}\": say what it is, \"True if\", \"If\" or \"For\""


def main():
    findings = []
    for name in source.files():
        if (name.startswith(FOLDERS) or name in PAGES) and name not in OWN and not name.endswith(".svg"):
            findings += check(name, source.text(name))
        if not name.startswith(tuple(OPENINGS_ALLOWED)):
            findings += check_openings(name, source.text(name))
    source.finish(findings, "words")


if __name__ == "__main__":
    main()
