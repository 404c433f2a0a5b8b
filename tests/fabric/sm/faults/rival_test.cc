// A second OpenSM on the subnet, with a partitions.conf of its own: a finding reports it, and no
// binding is shown as verified without its key.
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/sm/table_checks.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kOtherSmHost = 5;

sm::opensm::OpenSmSettings other_sms(uint8_t priority) {
  sm::opensm::OpenSmSettings settings;
  settings.priority = priority;
  settings.polling_timeout = 100;
  settings.polling_retries = 1;
  return settings;
}

v1::FabricHealthResponse health(const SmFixture& fixture) {
  const auto told = fixture.client().health(SmFixture::deadline_in());
  if (!told) FAIL(told.error().text());
  return *told;
}

// The finding about the subnet manager at that host.
std::string finding_of(const v1::FabricHealthResponse& health, unsigned host) {
  for (const v1::FabricHealthResponse::Finding& finding : health.findings())
    if (finding.subject().find(guid_of(host).text()) != std::string::npos &&
        finding.text().find("subnet manager") != std::string::npos)
      return finding.text();
  return "";
}

// It is there first: where one comes later and both look at the subnet at once, packets of theirs
// get lost in the simulator, which OpenSM waits for there for ever.
TEST_CASE("beside an OpenSM of higher priority it names that, claims nothing, and writes nothing") {
  auto rival = std::make_unique<EngineFixture>(kOtherSmHost, other_sms(10));
  rival->enforce({tenant(0x20, {full(1), full(3)})});
  SmFixture fixture{SmFixture::Unstarted{}};
  fixture.launch();
  REQUIRE(fixture.serves());
  fixture.until([&] { return health(fixture).engine().starts_with("not_master"); });
  fixture.until([&] {
    return finding_of(health(fixture), kOtherSmHost).find("is master") != std::string::npos;
  });
  CHECK_MESSAGE(finding_of(health(fixture), kSmHost).empty(), "it is ours");
  fixture.create_partition("blue");
  const auto late =
      fixture.client().bind(SmFixture::request(1, "blue"), SmFixture::deadline_in(Duration(6000)));
  REQUIRE(late);
  CHECK(late->state != fabric::BindingState::verified);
  CHECK(late->condition.reason == fabric::Reason::no_master);
  CHECK(late->condition.text.find("another subnet manager") != std::string::npos);
  check_verified(fixture);
  for (const unsigned host : {1u, 2u, 3u})
    CHECK(keys_in(fixture.table(host)) == keys_for(rival->definitions, host));
  rival.reset();
  fixture.until_healthy();
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);
  CHECK(finding_of(health(fixture), kSmHost).empty());
}

TEST_CASE("another OpenSM that stands by is reported") {
  SmFixture fixture;
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(1, "blue") == "verified");
  EngineFixture rival(kOtherSmHost, other_sms(0));
  rival.set_definitions({tenant(0x20, {full(1)})});
  rival.until([](const sm::engine::EngineStatus& now) {
    return now.health == sm::engine::Health::not_master;
  });
  fixture.until([&] {
    return finding_of(health(fixture), kOtherSmHost).find("is standby") != std::string::npos;
  });
  CHECK(finding_of(health(fixture), kSmHost).empty());
  fixture.until_healthy();
  check_tables(fixture);
}

}  // namespace
}  // namespace ibpod
