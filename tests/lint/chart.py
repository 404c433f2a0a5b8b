"""The values of the Helm chart are the same in values.yaml, in its schema, in its templates and in docs/helm.md, where their
defaults are, too. Each metric by which docs/metrics.md tells to alert has a rule in the chart, and the reverse.
"""

import json
import re

import source

CHART = "charts/ibpod/"
PAGE = "docs/helm.md"
METRICS = "docs/metrics.md"
ALERTS = CHART + "files/alerts.yaml"
KEY = re.compile(r"^( *)([\w./-]+):(?: +([^#\n]*?))?(?: *#.*)?$", re.M)
USED = re.compile(r"\.Values\.(\w+(?:\.\w+)*)")
ROW = re.compile(r"^\| `([\w.]+)` \| (.*?) \|", re.M)
METRIC = re.compile(r"\bibpod_[a-z_]+\b(?!\*)")
# The keys below these are the user's own: labels, or an object of Kubernetes.
OPEN = ("agent.resources", "sm.resources", "sm.nodeSelector")


def defaults(text):
    """{path: its default as it stands there}."""
    found, path = {}, []
    for match in KEY.finditer(text):
        depth = len(match.group(1)) // 2
        path = path[:depth] + [match.group(2)]
        above = next((one for one in OPEN if ".".join(path).startswith(one)), None)
        if above:
            found[above] = "below it"
        elif match.group(3):
            found[".".join(path)] = match.group(3)
    return found


def used(text):
    """The paths that templates name."""
    return set(USED.findall(text))


def reaches(text, path):
    """True if templates name the value, or a part of its path and the rest below that, as in "with"."""
    names, parts = used(text), path.split(".")
    return path in names or any(
        ".".join(parts[:cut]) in names and re.search(r"\." + re.escape(".".join(parts[cut:])) + r"\b", text)
        for cut in range(1, len(parts)))


def of_schema(schema, tree, prefix=""):
    for key, value in tree.get("properties", {}).items():
        value = schema["definitions"][value["$ref"].rsplit("/", 1)[-1]] if "$ref" in value else value
        if "properties" in value:
            yield from of_schema(schema, value, f"{prefix}{key}.")
        elif prefix + key != "global":  # Helm's own
            yield prefix + key


def removable(tree, prefix=""):
    """The values that a user could remove by null without an error: templates need them all. Helm's "global" is none."""
    own = tree.get("properties", {})
    yield from (prefix + key for key in own if key != "global" and key not in tree.get("required", []))
    for key, value in own.items():
        yield from removable(value, f"{prefix}{key}.")


def has(names, one):
    return any(one == name or one.startswith(name + ".") or name.startswith(one + ".") for name in names)


def compare(left, left_name, right, right_name):
    yield from (f"{one}: in {left_name}, and not in {right_name}" for one in sorted(left) if not has(right, one))
    yield from (f"{one}: in {right_name}, and not in {left_name}" for one in sorted(right) if not has(left, one))


def check_page(page, values):
    """The second column has the default; an empty one, of any type, is "none"."""
    shown = {match.group(1): match.group(2).strip("`") for match in ROW.finditer(page.partition("\n## Values\n")[2])}
    for path in sorted(shown.keys() | values.keys()):
        default = values.get(path, "missing")
        wanted = "none" if default in ('""', "{}", "[]") else default.strip('"')
        if path not in shown or path not in values or wanted not in ("below it", shown[path]):
            yield f"{PAGE}: {path}: its default is {wanted}, and the page has {shown.get(path, 'no row of it')}"


def check_alerts(page, rules):
    sections = "".join(re.findall(r"^## Alerts of .*?(?=^#|\Z)", page, re.M | re.S))
    told = set(METRIC.findall(sections))
    ruled = set(METRIC.findall("".join(re.findall(r"^ *expr: .*", rules, re.M))))
    event = "ibpod_sm_subnet_manager_events_total"  # the page says "the event"
    yield from compare(told | {event}, METRICS, ruled | {event}, ALERTS)


def main():
    values = defaults(source.text(CHART + "values.yaml"))
    templates = "\n".join(source.text(name) for name in source.files() if name.startswith(CHART + "templates/"))
    schema = json.loads(source.text(CHART + "values.schema.json"))
    findings = [*(f"{one}: no template uses it" for one in values if not reaches(templates, one)),
                *(f"{one}: a template uses it, and values.yaml has no such value" for one in used(templates) if not has(values, one)),
                *compare(set(values), "values.yaml", set(of_schema(schema, schema)), "values.schema.json"),
                *(f"{one}: not required in values.schema.json" for one in removable(schema)),
                *check_page(source.text(PAGE), values),
                *check_alerts(source.text(METRICS), source.text(ALERTS))]
    source.finish(findings, "chart")


if __name__ == "__main__":
    main()
