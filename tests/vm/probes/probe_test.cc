#include "tests/vm/probes/probe.h"

#include <sstream>

#include <doctest/doctest.h>

using namespace ibpod::probes;

namespace {

std::string sent(const std::string& pod, const std::string& tenants, const std::string& way,
                 uint32_t sequence, uint32_t session = 7) {
  return bytes_of({pod, session, parse_tenants(tenants), way, sequence});
}

}  // namespace

TEST_CASE("a probe is read back as it was sent") {
  const std::string bytes = sent("p1", "blue,red", "ud:0>1", 12);
  CHECK(bytes.size() == kProbeBytes);
  const auto read = parse_probe(bytes);
  REQUIRE(read);
  CHECK(read->pod == "p1");
  CHECK(read->session == 7);
  CHECK(text(read->tenants) == "blue,red");
  CHECK(read->way == "ud:0>1");
  CHECK(read->sequence == 12);
  CHECK_FALSE(parse_probe("something else"));
  CHECK_FALSE(parse_probe(""));
}

TEST_CASE("pods with a partition in common may talk") {
  CHECK(may_talk(parse_tenants("blue"), parse_tenants("red,blue")));
  CHECK_FALSE(may_talk(parse_tenants("blue"), parse_tenants("red")));
  CHECK_FALSE(may_talk(parse_tenants(""), parse_tenants("")));
}

TEST_CASE("what comes from another tenant is told at once") {
  std::ostringstream out;
  Tally tally(parse_tenants("blue"), out);
  tally.received(sent("p2", "blue", "ud:0>0", 0), 0);
  CHECK(out.str().empty());
  tally.received(sent("p3", "red", "rc:1>0", 0), 0);
  CHECK(out.str() == "WRONG: from p3 of red by rc:1>0\n");
  tally.received("noise", 0);
  CHECK(tally.wrong() == 2);
}

TEST_CASE("what is missing between two that came is counted, a new prober's beginning is not") {
  std::ostringstream out;
  Tally tally(parse_tenants("blue"), out);
  for (const uint32_t sequence : {5U, 6U, 9U})
    tally.received(sent("p2", "blue", "ud:0>0", sequence), 1000 + sequence);
  tally.received(sent("p2", "blue", "ud:1>0", 40), 2000);
  tally.received(sent("p2", "blue", "ud:0>0", 100, 8), 3000);
  tally.broke("p2", "rc:0>0");
  tally.report();
  CHECK(out.str() ==
        "missing: 2 from p2 by ud since 1006 until 1009\n"
        "broken: rc:0>0 to p2\n"
        "from p2 by ud: 5 right, 2 missing\n"
        "all: 5 right, 0 wrong, 2 missing, 1 broken\n");
}
