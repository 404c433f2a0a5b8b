"""The SBOM has each installed package once, and nothing that is gone."""

import json
import pathlib
import tempfile
import unittest

import sbom

STATUS = """Package: libstdc++6
Status: install ok installed
Architecture: amd64
Maintainer: Debian GCC Maintainers <debian-gcc@lists.debian.org>
Source: gcc-12 (12.2.0-14)
Version: 12.2.0-14+deb12u1
Description: GNU Standard C++ Library v3
 Version: 1 is in the text of a field.

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: dash
Status: install ok installed
Architecture: amd64
Version: 1:0.5.12~2
"""


class Sbom(unittest.TestCase):
    found = sbom.packages(STATUS)

    def document(self, root=None):
        return sbom.document("ibpod-agent", "0.1.0", 86400, self.found, root)

    def test_installed_packages_sorted(self):
        self.assertEqual([(one["Package"], one["Version"]) for one in self.found],
                         [("dash", "1:0.5.12~2"), ("libstdc++6", "12.2.0-14+deb12u1")])

    def test_source_and_supplier(self):
        self.assertEqual([sbom.source_of(one) for one in self.found], [("dash", "1:0.5.12~2"), ("gcc-12", "12.2.0-14")])
        self.assertEqual(sbom.supplier(self.found[0]), "NOASSERTION")
        self.assertEqual(sbom.supplier(self.found[1]), "Organization: Debian GCC Maintainers (debian-gcc@lists.debian.org)")

    def test_package_urls_are_escaped(self):
        self.assertEqual([sbom.purl(one) for one in self.found], [
            "pkg:deb/debian/dash@1%3A0.5.12~2?arch=amd64&distro=debian-12",
            "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12"])

    def test_fields_that_spdx_requires(self):
        found = self.document()
        self.assertEqual(found["creationInfo"]["created"], "1970-01-02T00:00:00Z")
        self.assertEqual([one["relatedSpdxElement"] for one in found["relationships"]], [one["SPDXID"] for one in found["packages"]])
        for one in found["packages"]:
            self.assertRegex(one["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertLessEqual({"name", "downloadLocation", "versionInfo"}, one.keys())

    def test_the_namespace_changes_with_the_content_only(self):
        self.assertEqual(self.document(), self.document())
        other = sbom.document("ibpod-agent", "0.1.0", 86400, self.found[:1], None)
        self.assertNotEqual(self.document()["documentNamespace"], other["documentNamespace"])
        json.dumps(other)

    def test_the_copyright_file_is_named_if_the_image_has_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "usr/share/doc/dash/copyright")
            path.parent.mkdir(parents=True)
            path.touch()
            comments = [one.get("licenseComments") for one in self.document(pathlib.Path(folder))["packages"]]
        self.assertEqual(comments, [None, "/usr/share/doc/dash/copyright", "no copyright file in the image"])


if __name__ == "__main__":
    unittest.main()
