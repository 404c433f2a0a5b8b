#include "tests/vm/snapshot.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::vm {
namespace {

nl::HardwareAddress address_of(uint8_t qpn, ib::Guid port) {
  nl::HardwareAddress address{0x80, 0, 0, qpn, 0xfe, 0x80, 0, 0, 0, 0, 0, 0};
  for (int shift = 56; shift >= 0; shift -= 8) {
    address.push_back(static_cast<uint8_t>(port.value() >> shift));
  }
  return address;
}

nl::Link an_interface() {
  nl::Link link;
  link.index = nl::IfIndex{4};
  link.name = "ib4";
  link.mtu = 4092;
  link.kind = "ipoib";
  link.address = address_of(9, ib::Guid(0x0200000000000101));
  link.ipoib = nl::Ipoib{};
  return link;
}

std::string line_of(const nl::Link& link) { return link_line("host", link, "", {}); }

nl::LinkAddress address(const char* text) {
  return {ip::Prefix::parse(text).value(), false, false};
}

TEST_CASE("no GUID has two spellings, and both read none") {
  CHECK(guid_text(ib::Guid(0)) == "none");
  CHECK(guid_text(ib::kNoGuid) == "none");
  CHECK(guid_text(ib::Guid(0x0011223344556677)) == "00:11:22:33:44:55:66:77");
  const nl::VfSettings fresh{nl::VfIndex{1}, ib::Guid(0), ib::Guid(0), nl::LinkPolicy::disable};
  const nl::VfSettings back{nl::VfIndex{1}, ib::kNoGuid, ib::kNoGuid, nl::LinkPolicy::disable};
  CHECK(vf_line("0000:01:00.0", fresh) == vf_line("0000:01:00.0", back));
  CHECK(vf_line("0000:01:00.0", back) == "vf 0000:01:00.0 1 node=none port=none policy=disable");
}

TEST_CASE("of an IPoIB hardware address the port counts, flags and QPN do not") {
  const ib::Guid port(0x0200000000000101);
  const std::string text = hardware_address_text(address_of(9, port));
  CHECK(text == "fe:80:00:00:00:00:00:00/02:00:00:00:00:00:01:01");
  CHECK(hardware_address_text(address_of(200, port)) == text);
  CHECK(hardware_address_text(address_of(9, ib::Guid(0x0200000000000102))) != text);
  CHECK(hardware_address_text(address_of(9, ib::Guid(0))) ==
        hardware_address_text(address_of(9, ib::kNoGuid)));
  CHECK(hardware_address_text({2, 0, 0, 0, 0, 1}) == "02:00:00:00:00:01");
}

TEST_CASE("what a link is counts, what passes does not") {
  const nl::Link before = an_interface();
  nl::Link same = before;
  same.index = nl::IfIndex{17};
  same.carrier = true;
  same.address[3] = 77;
  same.broadcast = {1, 2, 3};
  same.ipoib->pkey = ib::PKey::parse("0x8001").value();
  CHECK(line_of(same) == line_of(before));

  struct {
    const char* what;
    void (*change)(nl::Link&);
  } const changes[] = {
      {"name", [](nl::Link& link) { link.name = "net1"; }},
      {"altname", [](nl::Link& link) { link.altnames = {"ibp1s0"}; }},
      {"MTU", [](nl::Link& link) { link.mtu = 1500; }},
      {"up", [](nl::Link& link) { link.up = true; }},
      {"mode", [](nl::Link& link) { link.ipoib->mode = nl::IpoibMode::connected; }},
      {"umcast", [](nl::Link& link) { link.ipoib->umcast = true; }},
      {"port", [](nl::Link& link) { link.address[19] = 0; }},
      {"kind", [](nl::Link& link) { link.kind = "veth"; }},
  };
  for (const auto& [what, change] : changes) {
    INFO(what);
    nl::Link other = before;
    change(other);
    CHECK(line_of(other) != line_of(before));
  }
  CHECK(link_line("pod", before, "", {}) != line_of(before));
}

TEST_CASE("an MTU that the kernel itself has given is its own, any other counts") {
  nl::Link link = an_interface();
  for (const uint32_t own : {4092U, 2044U}) {
    link.mtu = own;
    CHECK(mtu_text(link) == "own");
  }
  link.mtu = 2040;
  CHECK(mtu_text(link) == "2040");
  link.mtu = 2044;
  link.ipoib->mode = nl::IpoibMode::connected;
  CHECK(mtu_text(link) == "2044");
  link.ipoib.reset();
  CHECK(mtu_text(link) == "2044");
}

TEST_CASE("a child counts with its parent and its P_Key") {
  nl::Link child = an_interface();
  const std::string line = link_line("host", child, "ib0", {});
  CHECK(line != link_line("host", child, "ib1", {}));
  child.ipoib->pkey = ib::PKey::parse("0x8001").value();
  CHECK(link_line("host", child, "ib0", {}) != line);
}

TEST_CASE("addresses count, the kernel's own link-local ones do not") {
  const nl::Link link = an_interface();
  CHECK(link_line("host", link, "", {address("fe80::1/64")}) == line_of(link));
  CHECK(link_line("host", link, "", {address("10.7.0.2/24")}) != line_of(link));
  CHECK(link_line("host", link, "", {address("10.7.0.2/24"), address("fd00::2/64")}) ==
        link_line("host", link, "", {address("fd00::2/64"), address("10.7.0.2/24")}));
}

TEST_CASE("altnames have no order") {
  nl::Link one = an_interface();
  nl::Link other = one;
  one.altnames = {"a", "b"};
  other.altnames = {"b", "a"};
  CHECK(line_of(one) == line_of(other));
}

TEST_CASE("files count by name and content, host-local's memory does not") {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "net" / "empty");
  folder.write("net/10.7.0.2", "pod");
  folder.write("net/lock", "");
  folder.write("net/last_reserved_ip.0", "10.7.0.2");
  const auto before = file_lines(folder.path()).value();
  REQUIRE(before.size() == 1);
  CHECK(before[0].starts_with("file " + (folder.path() / "net/10.7.0.2").string() + " "));
  folder.write("net/10.7.0.2", "another");
  CHECK(file_lines(folder.path()).value() != before);
  CHECK(file_lines(folder.path() / "nothing").value().empty());
}

TEST_CASE("a folder counts as such when nothing is in it") {
  const TempFolder folder;
  folder.write("0000:01:00.1/pod:net1.json", "{}");
  folder.write("file", "");
  CHECK(empty_folder_lines(folder.path()).value().empty());
  std::filesystem::create_directories(folder.path() / "0000:01:00.2");
  CHECK(empty_folder_lines(folder.path()).value() ==
        std::vector<std::string>{"empty folder " + (folder.path() / "0000:01:00.2").string()});
  CHECK(empty_folder_lines(folder.path() / "nothing").value().empty());
}

TEST_CASE("mounts of namespaces are found") {
  const std::string text =
      "22 1 0:20 / /sys rw - sysfs sys rw\n"
      "36 35 0:4 net:[4026532] /run/netns/pod rw shared:1 - nsfs nsfs rw\n";
  CHECK(mount_lines(text) == std::vector<std::string>{"mount /run/netns/pod"});
}

TEST_CASE("a difference names what is gone and what is new") {
  CHECK(difference({"a", "b"}, {"b", "c"}) == "- a\n+ c\n");
  CHECK(difference({"a"}, {"a"}).empty());
  CHECK(difference({"a"}, {"a", "a"}) == "+ a\n");
}

}  // namespace
}  // namespace ibpod::vm
