"""A header whose only declaration is a class is called as that class: TaskQueue is in task_queue.h, or in queue.h, as the
folder may say the rest. What else a header declares (a function, a struct, an alias) can be what it is called after.
"""

import re

import source

FOLDERS = ("agent/", "cni/", "ctl/", "device-plugin/", "lib/", "sm/")
CLASS = re.compile(r"^class (?:\[\[\w+\]\] )?(?:\w+::)*(\w+)(?: final)?\b[^;{]*\{", re.M)
# Anything else that begins at the margin, as clang-format puts what is in a namespace: types, aliases, functions, constants.
OTHER = re.compile(r"^(?:struct|enum|union|using|template|inline|constexpr|extern|const|[A-Za-z_][\w:<>,&* ]* [\w&*]+\()", re.M)
FORWARD = re.compile(r"^(?:class|struct|enum class) [\w: ]+;$", re.M)


def only_class(content):
    """The class, if that is all; content without comments."""
    content = FORWARD.sub("", content)
    classes = CLASS.findall(content)
    return classes[0] if len(classes) == 1 and not OTHER.search(content) else None


def check(name, content):
    found = only_class(content)
    stem = name.rsplit("/", 1)[-1].removesuffix(".h").replace("_", "")
    if found and not found.lower().startswith(stem) and not found.lower().endswith(stem):
        yield f"{name}: its class is {found}: call the file as it"


def main():
    findings = []
    for name in source.files(".h"):
        if name.startswith(FOLDERS) and "/test_" not in name:
            findings += check(name, source.code(name))
    source.finish(findings, "file_names")


if __name__ == "__main__":
    main()
