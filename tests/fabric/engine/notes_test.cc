// The claims of docs/opensm-notes.md about OpenSM 3.3 that the other tests do not show.
#include "tests/fabric/background.h"
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/engine/raw_opensm.h"

#include <algorithm>

namespace ibpod {
namespace {

// `name=pkey` with h1 and h2 as full members.
std::string definition(const std::string& head) {
  return head + " : 0x0000000000100003=full, 0x0000000000100005=full;\n";
}

TEST_CASE("a key that leaves index 0 leaves it empty, unless the default one asks for it") {
  RawOpenSm opensm;  // with allow_both_pkeys
  Subnet subnet;
  const std::string plain = "Default=0x7fff : ALL=limited, SELF=full;\n";
  const std::string asking = "Default=0x7fff, indx0 : ALL=limited, SELF=full;\n";
  const std::string key = definition("a=0x10, indx0");
  opensm.read(plain + key);
  CHECK(subnet.tables().at(1).at(0) == ib::PKey(0x8010));
  opensm.read(plain);
  CHECK(subnet.tables().at(1).at(0) == ib::PKey(0));
  CHECK(ib::find_in(subnet.tables().at(1), ib::PKey(0x7fff)).has_value());
  opensm.read(asking);
  CHECK(subnet.tables().at(1).at(0) == ib::PKey(0x7fff));
  opensm.read(asking + key);
  CHECK(subnet.tables().at(1).at(0) == ib::PKey(0x8010));
  opensm.read(asking);
  CHECK(subnet.tables().at(1).at(0) == ib::PKey(0x7fff));
}

TEST_CASE("a default key that asks for index 0 gets it at the ports that its rule names") {
  RawOpenSm opensm;
  Subnet subnet;
  const std::string sm_only = "Default=0x7fff, indx0 : SELF=full;\n";
  const std::string all = "Default=0x7fff, indx0 : ALL=limited, SELF=full;\n";
  const auto index0 = [&](const std::string& text) {
    opensm.read(text);
    return subnet.tables().at(1).at(0);
  };
  CHECK(index0(all + definition("a=0x10, indx0")) == ib::PKey(0x8010));
  CHECK(index0(sm_only) == ib::PKey(0));
  CHECK(ib::find_in(subnet.tables().at(1), ib::PKey(0x7fff)).has_value());
  CHECK(index0(all) == ib::PKey(0x7fff));
}

TEST_CASE("indx0 is for the ports that its own definition names, of several of one key") {
  RawOpenSm opensm;
  Subnet subnet;
  const std::string base = "Default=0x7fff, indx0 : ALL=limited, SELF=full;\n";
  const auto tables = [&](const std::string& text) {
    opensm.read(base + text);
    return subnet.tables();
  };
  const std::string first = "a=0x10, indx0, ipoib : 0x0000000000100003=full;\n";
  const std::string second = "a=0x10, ipoib : 0x0000000000100005=full;\n";
  auto read = tables(first + second);
  CHECK(read.at(1).at(0) == ib::PKey(0x8010));
  CHECK(read.at(2).at(0) == ib::PKey(0x7fff));
  CHECK(ib::find_in(read.at(2), ib::PKey(0x8010)).has_value());
  // So it is where nobody takes it, and where it is another partition's.
  read = tables("a=0x10, indx0, ipoib : NONE;\n" + second +
                "b=0x20, indx0 : 0x0000000000100005=full;\n");
  CHECK(read.at(1).at(0) == ib::PKey(0x7fff));
  CHECK(read.at(2).at(0) == ib::PKey(0x8020));
  CHECK(ib::find_in(read.at(2), ib::PKey(0x8010)).has_value());
  // A port that both name has it elsewhere; and where it was at index 0 before, nothing there.
  read = tables(first);
  CHECK(read.at(1).at(0) == ib::PKey(0x8010));
  read = tables(first + "a=0x10, ipoib : ALL_CAS=full;\n");
  CHECK(read.at(1).at(0) == ib::PKey(0));
  CHECK(ib::find_in(read.at(1), ib::PKey(0x8010)).has_value());
}

TEST_CASE("once a table has had 64 keys, a full default key that leaves index 0 is lost") {
  RawOpenSm opensm;
  Subnet subnet;
  // h1 is a full member of the default partition, h2 a limited one.
  const std::string base =
      "Default=0x7fff, indx0 : ALL=limited, SELF=full, 0x0000000000100003=full;\n";
  for (unsigned key = 0x100; key < 0x140; ++key)
    opensm.read(base + definition("a=" + ib::PKey(static_cast<uint16_t>(key)).text()));
  const auto marks = opensm.read(base + definition("b=0x200, indx0"));
  CHECK(std::count(marks.begin(), marks.end(), sm::opensm::LogMark::table_full) == 1);
  const auto tables = subnet.tables();
  CHECK(keys_in(tables.at(1)) == std::vector{ib::PKey(0x8200)});
  CHECK(keys_in(tables.at(2)) == std::vector{ib::PKey(0x7fff), ib::PKey(0x8200)});
}

TEST_CASE("OpenSM prints its keys where it starts") {
  const TempFolder folder;
  folder.write("conf", "m_key 0x000000000000abcd\n");
  auto program = Background::start({.words = {"opensm", "-F", "conf", "-c", "all"},
                                    .folder = folder.path(),
                                    .environment = {{"LD_PRELOAD", ""}}});
  REQUIRE(program);
  CHECK(program->output().find("m_key = 0x000000000000abcd") != std::string::npos);
}

}  // namespace
}  // namespace ibpod
