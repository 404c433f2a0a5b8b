// A second OpenSM on the subnet, with a partitions.conf of its own: it is told of, and no binding
// is shown as verified without its key.
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/sm/table_checks.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kRivalHost = 5;

sm::OpenSmSettings rivals(uint8_t priority) {
  sm::OpenSmSettings settings;
  settings.priority = priority;
  settings.polling_timeout = 100;
  settings.polling_retries = 1;
  return settings;
}

fabricapi::FabricHealth health(const SmBed& bed) {
  const auto told = bed.client().health(SmBed::patience());
  if (!told) FAIL(told.error().text());
  return *told;
}

// What it finds of the subnet manager at that host.
std::string finding_of(const fabricapi::FabricHealth& health, unsigned host) {
  for (const fabricapi::Finding& finding : health.findings)
    if (finding.subject.find(guid_of(host).text()) != std::string::npos &&
        finding.text.find("subnet manager") != std::string::npos)
      return finding.text;
  return "";
}

// It is there first: where one comes later and both look at the subnet at once, packets of theirs
// get lost in the simulator, which OpenSM waits for there for ever.
TEST_CASE("beside an OpenSM of higher priority it names that, claims nothing, and writes nothing") {
  auto rival = std::make_unique<EngineBed>(kRivalHost, rivals(10));
  rival->enforce({tenant(0x20, {full(1), full(3)})});
  SmBed bed{SmBed::Unstarted{}};
  bed.launch();
  REQUIRE(bed.serves());
  bed.until([&] { return health(bed).engine.starts_with("not_master"); });
  bed.until(
      [&] { return finding_of(health(bed), kRivalHost).find("is master") != std::string::npos; });
  CHECK_MESSAGE(finding_of(health(bed), kSmHost).empty(), "it is ours");
  bed.partition("blue");
  const auto late = bed.client().bind(SmBed::request(1, "blue"), SmBed::patience(Duration(6000)));
  REQUIRE(late);
  CHECK(late->state != fabric::State::verified);
  CHECK(late->standing.reason == fabric::Reason::no_master);
  CHECK(late->standing.text.find("another subnet manager") != std::string::npos);
  check_claims(bed);
  for (const unsigned host : {1u, 2u, 3u})
    CHECK(keys_in(bed.table(host)) == keys_for(rival->wanted, host));
  rival.reset();
  bed.until_well();
  bed.until([&] { return bed.all_verified(); });
  check_truth(bed);
  CHECK(finding_of(health(bed), kSmHost).empty());
}

TEST_CASE("another OpenSM that stands by is told of") {
  SmBed bed;
  bed.partition("blue");
  REQUIRE(bed.bind(1, "blue") == "verified");
  EngineBed rival(kRivalHost, rivals(0));
  rival.want({tenant(0x20, {full(1)})});
  rival.until([](const sm::Standing& now) { return now.health == sm::Health::not_master; });
  bed.until(
      [&] { return finding_of(health(bed), kRivalHost).find("stands by") != std::string::npos; });
  CHECK(finding_of(health(bed), kSmHost).empty());
  bed.until_well();
  check_truth(bed);
}

}  // namespace
}  // namespace ibpod
