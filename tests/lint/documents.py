"""The commands, links and examples in README and docs work as they are written.

Commands are in fenced blocks that say where a test runs them: "sh vm" in the test VM (tests/vm/cases/documents.sh), "sh
cluster" under `./check full cluster`, "sh host TEST" in a checkout, by TEST, which is looked at. Options and commands of our programs are those
of their sources; links lead to files and headings, manifests are there, and what a symptom's row quotes is what we say. "cpp FILE" are lines of that file.
"""

import posixpath
import re
import typing

import notes
import source

SHELLS = ("sh", "bash", "shell", "console")
FENCE = re.compile(r"^( *)```(.*)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MANIFEST = re.compile(r"(?<![\w/])manifests/[\w./-]*\w")
INLINE = re.compile(r"`([^`\n]+)`")
SYMPTOMS = ("what you see", "what the events say", "the finding", "reason")  # heads of first columns with our messages
WORD = re.compile(r"^[a-z][a-z0-9-]*$")
TABLE = re.compile(r"^\| (.*?) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.M)  # the head of its first column, and its rows


class Block(typing.NamedTuple):
    line: int  # of its first fence
    info: list
    text: str


class Program(typing.NamedTuple):
    options: set
    commands: set  # empty: it has none
    groups: set    # commands that need another one behind them


def is_indented_code(previous, line):
    return previous == "" and line.startswith("    ") and line.strip() != ""


def blocks(content):
    """The fenced blocks, and the text without them; every line of that keeps its number."""
    found, rest, block, start = [], [], None, 0
    for number, line in enumerate(content.split("\n"), 1):
        fence = FENCE.match(line)
        rest.append("" if fence or block is not None else line)
        if fence and block is None:
            block, start, info = [], number, fence.group(2).split()
        elif fence:
            found.append(Block(start, info, "\n".join(block)))
            block = None
        elif block is not None:
            block.append(line)
    return found, "\n".join(rest)


def runs(test, commands):
    """True if that script runs the blocks that name it, or is itself the lane that is all of the block."""
    if not (source.ROOT / test).is_file():
        return False
    lane = re.fullmatch(r"\./check full (\S+)", commands.strip())
    return lane is not None and test == f"tests/lanes/{lane[1]}.sh" or f'"host {test}"' in source.text(test)


def check_tag(block):
    if not block.info:
        return "a block without a language"
    if block.info[0] == "cpp" and len(block.info) == 2:
        return None if block.text in source.text(block.info[1]) else f"{block.info[1]} has no such lines"
    if block.info[0] not in SHELLS or block.info in (["sh", "vm"], ["sh", "cluster"]):
        return None
    if block.info[:2] == ["sh", "host"] and len(block.info) == 3 and runs(block.info[2], block.text):
        return None
    return f"\"{' '.join(block.info)}\": commands are \"sh vm\", \"sh cluster\" or \"sh host TEST\", a test that runs them"


def check_links(name, text):
    for match in LINK.finditer(text):
        path, _, heading = match.group(1).partition("#")
        if "://" in path:
            continue
        line = source.line_of(text, match.start())
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if not (source.ROOT / target).exists():
            yield f"{name}:{line}: there is no {target}"
        elif heading and heading not in notes.anchors(target):
            yield f"{name}:{line}: {target} has no heading #{heading}"


def programs():
    """The commands and options that exist, by the names in the sources."""
    control = "\n".join(source.text(name) for name in source.files(".cc")
                        if name.startswith("ctl/") and not name.endswith("_test.cc"))
    names = set(re.findall(r"\.name = \"([a-z]+)\"|\bof(?:_one)?\((?:session, )?\"([a-z]+)\"", control))
    commands = {one or other for one, other in names}
    options = set(re.findall(r"\"(?:-\w,)?(--[a-z][a-z0-9-]*)\"", control)) | {"-n"}
    options |= {"--no-" + flag for flag in re.findall(r"optional<bool> (\w+)", source.text("ctl/partition_options.h"))}
    found = {"ibpodctl": Program(options, commands, {"partition", "member", "binding", "node"})}
    for program, main in (("ibpod-agent", "agent/main.cc"), ("ibpod-sm", "sm/main.cc")):
        found[program] = Program(set(re.findall(r"\"(--[a-z-]+)\"", source.text(main))), set(), set())
    return found


def calls(text, known):
    """The calls of our programs in a piece of shell, as lists of words."""
    joined = re.sub(r"\\\n", " ", text)
    for piece in re.split(r"\n|;|&&|\|\|?", re.sub(r"(^|\s)#[^\n]*", r"\1", joined)):
        words = [word for word in piece.split() if not re.match(r"^\w+=", word)]
        if words and posixpath.basename(words[0]) in known:
            yield posixpath.basename(words[0]), words[1:]


def check_call(program, words, known):
    options = {re.split(r"[=\]]", word)[0] for word in words if word.startswith("-") and word != "-"}
    unknown = sorted(options - known.options - {"--help", "--version"})
    if unknown:
        return f"{program} has no {unknown[0]}"
    if not known.commands or options & {"--help", "--version"}:
        return None
    at = next((i for i, word in enumerate(words) if word in known.commands), None)
    if at is None:
        return f"{program} has no such command: {' '.join(words)}" if any(map(WORD.match, words)) else None
    below = words[at + 1] if at + 1 < len(words) else ""
    if words[at] in known.groups and WORD.match(below) and below not in known.commands:
        return f"{program} {words[at]} has no {below}"
    return None


def check(name, content, known):
    found, text = blocks(content)
    lines = text.split("\n")
    for number, (previous, line) in enumerate(zip(lines, lines[1:]), 2):
        if is_indented_code(previous, line):
            yield f"{name}:{number}: code stands between fences"
    yield from check_links(name, text)
    pieces = [(block.line, block.text) for block in found if block.info[:1] == ["sh"]]
    pieces += [(source.line_of(text, match.start()), match.group(1)) for match in INLINE.finditer(text)]
    for block in found:
        wrong = check_tag(block)
        if wrong:
            yield f"{name}:{block.line}: {wrong}"
    for line, piece in pieces:
        for program, words in calls(piece, known):
            wrong = check_call(program, words, known[program])
            if wrong:
                yield f"{name}:{line}: {wrong}"
        for path in MANIFEST.findall(piece):
            if not (source.ROOT / path).exists():
                yield f"{name}:{line}: there is no {path}"


def spoken():
    """Every string of the programs, one after the other; those that the compiler joins are joined."""
    texts = [source.text(name) for name in source.cpp_files() if not name.startswith("tests/") and not name.endswith("_test.cc")]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts)).replace('\\"', '"')


def check_symptoms(name, content, said):
    """In the first column of tables of SYMPTOMS: pieces of four words or more between dots are ours."""
    for table in TABLE.finditer(content):
        for row in re.finditer(r"^\| (.*?) \|", table.group(2) if table.group(1) in SYMPTOMS else "", re.M):
            for quoted in INLINE.findall(row.group(1)):
                for piece in map(str.strip, quoted.split("…")):
                    if len(piece.split()) >= 4 and piece not in said:
                        yield f"{name}:{source.line_of(content, table.start(2) + row.start())}: no program says \"{piece}\""


def main():
    findings = []
    known, said = programs(), spoken()
    for name in source.files(".md"):
        if "/" not in name or name.startswith("docs/"):
            findings += check(name, source.text(name), known)
            findings += check_symptoms(name, source.text(name), said)
    source.finish(findings, "documents")


if __name__ == "__main__":
    main()
