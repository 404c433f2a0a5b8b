#include "lib/ib/pci_address.h"

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

TEST_CASE("a PCI address is kept in the form that sysfs uses") {
  CHECK(PciAddress::parse("0000:3b:00.2").value().text() == "0000:3b:00.2");
  CHECK(PciAddress::parse("FFFF:FF:1F.7").value().text() == "ffff:ff:1f.7");
  CHECK(PciAddress::parse("0000:3B:00.2").value() == PciAddress::parse("0000:3b:00.2").value());
  CHECK(PciAddress().empty());
}

TEST_CASE("nothing else gets through: it ends up in a path") {
  for (const char* text :
       {"", "3b:20.2", "0000:3b:00", "0000:3b:00.8", "0000:3b:20.0", "0000:3b:ff.0",
        "0000:3b:00.2/", "../../../etc/", "0000:3b:00.2\n", "000g:3b:00.2", "0000:3b:00,2",
        "0000-3b-00.2", "mlx5_core.sf.4", "10000:3b:00.2"}) {
    CAPTURE(text);
    const auto parsed = PciAddress::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Code::invalid);
    CHECK(parsed.error().text().ends_with("expected a form such as 0000:3b:00.2"));
  }
  CHECK_FALSE(PciAddress::parse(std::string_view("0000:3b:00.\0", 12)));
  CHECK(PciAddress::parse("0000:3b:00.2"));
  const std::string refusal = PciAddress::parse("3B:00.2").error().text(), mark = ": write ";
  CHECK(PciAddress::parse(refusal.substr(refusal.find(mark) + mark.size())).value().text() ==
        "0000:3b:00.2");
}

TEST_CASE("the number of an address has all its parts, in their order") {
  CHECK(PciAddress::parse("0000:3b:00.2")->number() == 0x3b02);
  CHECK(PciAddress::parse("10af:3b:1f.7")->number() == 0x10af3bff);
  CHECK(PciAddress().number() == 0);
}

}  // namespace
}  // namespace ibpod::ib
