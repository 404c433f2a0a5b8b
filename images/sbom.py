"""The packages of an image, by dpkg's database.

sbom.py --list STATUS: a line "NAME VERSION ARCHITECTURE" for each
sbom.py --name NAME --version VERSION --created SECONDS [--root TREE] STATUS: an SPDX 2.3 document (JSON) of the image

The same input gives the same bytes. Licenses are not concluded: each package's copyright file stays in the image.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import sys

NAMESPACE = "https://spdx.org/spdxdocs/"


def packages(status):
    """The installed ones, sorted, as {field: value}; a field's further lines are left out."""
    found = []
    for paragraph in re.split(r"\n\n+", status.strip()):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.M))
        if fields.get("Status", "").endswith(" installed"):
            found.append(fields)
    return sorted(found, key=lambda one: (one["Package"], one["Architecture"]))


def source_of(package):
    """Debian's source package and its version: "Source: NAME (VERSION)", without either if they are the package's own."""
    match = re.fullmatch(r"(\S+)(?: \((\S+)\))?", package.get("Source", package["Package"]))
    return match[1], match[2] or package["Version"]


def purl(package):
    version = package["Version"].replace("+", "%2B").replace(":", "%3A")
    return f"pkg:deb/debian/{package['Package'].replace('+', '%2B')}@{version}?arch={package['Architecture']}&distro=debian-12"


def supplier(package):
    return re.sub(r"^(.*?) <(.*)>$", r"Organization: \1 (\2)", package.get("Maintainer", "")) or "NOASSERTION"


def identifier(package):
    return "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{package['Package']}-{package['Architecture']}".replace("+", "plus"))


def entry(package, root):
    name, version = source_of(package)
    copyright_file = f"usr/share/doc/{package['Package']}/copyright"
    comment = f"/{copyright_file}" if root and (root / copyright_file).exists() else "no copyright file in the image"
    return {
        "SPDXID": identifier(package), "name": package["Package"], "versionInfo": package["Version"],
        "supplier": supplier(package), "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "licenseComments": comment,
        "copyrightText": "NOASSERTION", "sourceInfo": f"built from Debian's source package {name} {version}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(package)}],
    }


def document(name, version, created, found, root):
    image = {
        "SPDXID": "SPDXRef-image", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "CONTAINER",
    }
    entries = [entry(one, root) for one in found]
    digest = hashlib.sha256(json.dumps([image, entries], sort_keys=True).encode()).hexdigest()
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image")]
    relations += [("SPDXRef-image", "CONTAINS", one["SPDXID"]) for one in entries]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"{NAMESPACE}{name}-{version}-{digest}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(created, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: ibpod", "Tool: ibpod-images-sbom"],
        },
        "packages": [image, *entries],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--name", default="ibpod")
    parser.add_argument("--version", default="0")
    parser.add_argument("--created", type=int, default=0)
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("status", type=pathlib.Path)
    arguments = parser.parse_args()
    found = packages(arguments.status.read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"{arguments.status}: no package is installed")
    if arguments.list:
        print("\n".join(f"{one['Package']} {one['Version']} {one['Architecture']}" for one in found))
        return
    print(json.dumps(document(arguments.name, arguments.version, arguments.created, found, arguments.root), indent=1))


if __name__ == "__main__":
    main()
