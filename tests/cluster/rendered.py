"""Prints an object of a file of Kubernetes objects as JSON:  rendered.py FILE KIND NAME"""

import json
import sys

import yaml


def main():
    path, kind, name = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        found = [one for one in yaml.safe_load_all(file) if one and (one["kind"], one["metadata"]["name"]) == (kind, name)]
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} objects {kind}/{name}, expected one")
    json.dump(found[0], sys.stdout)


if __name__ == "__main__":
    main()
