// The mtu, rate and sl of a partition, as the subnet manager's SA reports them.
#include "tests/fabric/sm/sm_fixture.h"

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Asked as infiniband-diags do, from this host.
std::string saquery(std::vector<std::string> words) {
  words.insert(words.begin(), "saquery");
  auto asked = Background::start(
      {.words = std::move(words), .folder = std::filesystem::current_path(), .environment = {}});
  REQUIRE(asked);
  asked->finish();
  return asked->output();
}

// The number after "NAME....0x84": mtu and rate without the selector in the upper two bits.
unsigned number(const std::string& text, const std::string& name) {
  const size_t at = text.find("\t" + name + ".");
  const size_t value = text.find("0x", at);
  if (at == text.npos || value == text.npos) return 0;
  return static_cast<unsigned>(std::strtoul(text.c_str() + value, nullptr, 16));
}

TEST_CASE("mtu, rate and sl of a partition are what the SA tells of its group and of its paths") {
  // If ports may be limited and full at once, OpenSM does not show a partition's groups.
  SmFixture fixture(R"("defaults": {"mtu": 2048, "rate": 10})");
  fabric::Partition partition = SmFixture::sample_partition("blue");
  partition.ipoib = true;
  partition.mtu = fabric::Mtu::mtu_1024;
  partition.rate = fabric::rate_of(2);
  partition.sl = 3;
  fixture.create_partition(partition);
  CHECK(fixture.bind(1, "blue") == "verified");
  CHECK(fixture.bind(7, "blue") == "verified");
  // The ports have the key before the sweep is over; the SA knows all of it after its end.
  const auto version = [&](const char* which) {
    return fixture.metric("ibpod_sm_version{version=\"" + std::string(which) + "\"}");
  };
  fixture.until([&] { return version("swept") == version("wanted"); });
  const std::string groups = saquery({"-g"});
  const size_t ours = groups.find("ff12:401b:8001::ffff:ffff");
  REQUIRE_MESSAGE(ours != groups.npos, groups);
  const std::string group = groups.substr(ours);
  INFO(group);
  CHECK((number(group, "Mtu") & 0x3f) == 3);
  CHECK((number(group, "Rate") & 0x3f) == 2);
  CHECK((number(group, "SL") & 0xf) == 3);
  const std::string path = saquery({"-p", "--slid", std::to_string(fixture.subnet.lid(7)), "--dlid",
                                    std::to_string(fixture.subnet.lid(1))});
  INFO(path);
  CHECK(number(path, "pkey") == 0x8001);
  CHECK((number(path, "sl") & 0xf) == 3);
}

}  // namespace
}  // namespace ibpod
