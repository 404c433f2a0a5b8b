"""Compares two files of Kubernetes objects, in any order:  same_objects.py ONE OTHER [IGNORED-KIND...]

Prints each place at which they differ, and ends with 1 if there is one.
"""

import sys

import yaml


def objects(path, ignored):
    with open(path, encoding="utf-8") as file:
        found = [one for one in yaml.safe_load_all(file) if one and one["kind"] not in ignored]
    named = {(one["apiVersion"], one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in found}
    if len(named) != len(found):
        sys.exit(f"{path}: an object is there twice")
    return named


def differences(one, other, place):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys(), key=str):
            if key in one and key in other:
                yield from differences(one[key], other[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}: only in the {'first' if key in one else 'second'}"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other)):
            yield from differences(left, right, f"{place}[{index}]")
    elif one != other:
        yield f"{place}: {one!r} and {other!r}"


def main():
    first, second = (objects(path, sys.argv[3:]) for path in sys.argv[1:3])
    found = [f"{' '.join(key)}: only in the {'first' if key in first else 'second'}" for key in sorted(first.keys() ^ second.keys())]
    for key in sorted(first.keys() & second.keys()):
        found += differences(first[key], second[key], key[1] + "/" + key[3])
    print("\n".join(found) if found else f"{len(first)} objects are the same")
    sys.exit(1 if found or not first else 0)


if __name__ == "__main__":
    main()
