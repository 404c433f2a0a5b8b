#include "tests/vm/probes/peer_info.h"

#include "lib/base/files.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

using namespace ibpod;
using namespace ibpod::probes;

TEST_CASE("a card is read back as it was written, and goes") {
  const TempFolder folder;
  const PeerInfo info{"p1",
                      77,
                      {"blue", "red"},
                      12,
                      "10.7.0.1",
                      {{0, 5}, {1, 6}},
                      {{"p2", 9, 1, 0, 31, 4, true, false}}};
  REQUIRE(write_peer_info(folder.path(), info).ok());
  REQUIRE(write_file_atomically(folder.path() / "p3", "ud nothing\n").ok());
  CHECK(read_peers(folder.path(), "p1").empty());
  const auto peers = read_peers(folder.path(), "p2");
  REQUIRE(peers.size() == 1);
  CHECK(peers.at("p1") == info);
  REQUIRE(remove_peer_info(folder.path(), "p1").ok());
  CHECK(read_peers(folder.path(), "p2", peers).empty());
}

TEST_CASE("a damaged card is none") {
  for (const char* text : {"", "ud 0 1\n", "pod p1\n", "pod p1 7 blue 1 -\nud x\n"})
    CHECK_FALSE(parse_peer_info(text).ok());
}
