// A port goes while a Bind is underway: it is answered at its deadline with the reason, and when
// the port is back it becomes verified without anybody asking.
#include "tests/fabric/sm/faults/console.h"
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/table_checks.h"

#include <future>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::Reason;

struct LinkFixture : SmFixture {
  LinkFixture() {
    create_partition("blue");
    REQUIRE(bind(5, "blue") == "verified");
  }
  fabric::Binding get(unsigned host) const {
    const auto found = client().get_binding(request(host, "blue").attachment, deadline_in());
    if (!found) FAIL(found.error().text());
    return *found;
  }
  Result<fabric::Binding> bind_within(unsigned host, Duration timeout) const {
    return client().bind(request(host, "blue"), SmFixture::deadline_in(timeout));
  }
  Console console;
};

bool of_absence(Reason reason) {
  return reason == Reason::port_unknown || reason == Reason::unreachable ||
         reason == Reason::timeout || reason == Reason::port_down;
}

TEST_CASE("bound while its cable is out: told why at the deadline, verified when it is back") {
  LinkFixture fixture;
  for (const unsigned host : {1u, 4u}) {
    CAPTURE(host);
    fixture.console.unlink(host);
    const auto bound = fixture.bind_within(host, Duration(6000));
    REQUIRE(bound);
    CHECK(bound->state != fabric::BindingState::verified);
    CHECK_MESSAGE(of_absence(bound->condition.reason), name(bound->condition.reason));
    CHECK_FALSE(bound->condition.text.empty());
    fixture.console.relink(host);
    fixture.until([&] { return fixture.get(host).state == fabric::BindingState::verified; });
    check_tables(fixture);
  }
}

TEST_CASE("a cable that goes out at any moment of a Bind") {
  LinkFixture fixture;
  std::mt19937 random = random_of("link");
  const int rounds = all_steps() ? 100 : 3;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    auto binding =
        std::async(std::launch::async, [&] { return fixture.bind_within(2, Duration(3000)); });
    for (auto n = random() % 6; n > 0; --n) (void)fixture.is_healthy();  // as long as that takes
    fixture.console.unlink(2);
    const auto bound = binding.get();
    REQUIRE(bound);
    // It may have been verified before.
    if (bound->state != fabric::BindingState::verified)
      CHECK_MESSAGE(bound->condition.reason != Reason::none, bound->condition.text);
    fixture.until([&] {
      return fixture.get(2).state == fabric::BindingState::unknown ||
             of_absence(fixture.get(2).condition.reason);
    });
    fixture.console.relink(2);
    fixture.until([&] { return fixture.get(2).state == fabric::BindingState::verified; });
    check_tables(fixture);
    CHECK(fixture.unbind(2) == "released");
    check_tables(fixture);
  }
}

TEST_CASE("a node that was switched off: its table is new, and gets its key again") {
  LinkFixture fixture;
  REQUIRE(fixture.bind(3, "blue") == "verified");
  fixture.console.clear(3);
  fixture.until([&] { return fixture.get(3).state == fabric::BindingState::unknown; });
  fixture.console.relink(3);
  fixture.until([&] { return fixture.get(3).state == fabric::BindingState::verified; });
  check_tables(fixture);
}

TEST_CASE(
    "an Unbind while the cable is out is not done before the port has been seen without the key") {
  LinkFixture fixture;
  REQUIRE(fixture.bind(3, "blue") == "verified");
  fixture.console.unlink(3);
  CHECK(fixture.unbind(3, "c1", Duration(3000)) == "releasing");
  fixture.until([&] { return of_absence(fixture.get(3).condition.reason); });
  fixture.console.relink(3);
  fixture.until([&] {
    return read_service(fixture).find(SmFixture::request(3, "blue").attachment) == nullptr;
  });
  check_tables(fixture);
}

bool holds_blue(SmFixture& fixture, unsigned host, ib::PKey pkey) {
  for (const ib::PKey key : fixture.table(host))
    if (key.same_partition(pkey)) return true;
  return false;
}

// OpenSM corrects its table before it carries anything, and so does the look at all ports.
TEST_CASE(
    "a former member whose cable is out keeps its partition; forgotten, it is cleaned later") {
  SmFixture fixture;
  Console console;
  fabric::Partition blue = SmFixture::sample_partition("blue");
  blue.members = {{guid_of(4), fabric::Membership::full, ""}};
  fixture.create_partition(blue);
  const auto made = fixture.client().list_partitions({}, SmFixture::deadline_in());
  REQUIRE(made);
  const ib::PKey pkey = *made->items.at(0).spec.pkey;
  fixture.until([&] { return holds_blue(fixture, 4, pkey); });
  fixture.until([&] { return fixture.metric("ibpod_sm_ports{state=\"all\"}") > 8; });
  console.unlink(4);
  fixture.until([&] { return fixture.metric("ibpod_sm_ports{state=\"unseen\"}") == 1; });
  const auto partitions = [&] {
    return fixture.client().list_partitions({}, SmFixture::deadline_in())->items;
  };
  REQUIRE(fixture.client().delete_partition("blue", SmFixture::deadline_in()));
  fixture.until([&] {
    return !partitions().empty() &&
           partitions()[0].condition.text.find(guid_of(4).text()) != std::string::npos;
  });
  const auto again = fixture.client().create_partition(blue, SmFixture::deadline_in());
  CHECK(again.error().code() == Code::busy);
  REQUIRE(fixture.client().delete_partition("blue", SmFixture::deadline_in(), true));
  fixture.until([&] { return partitions().empty(); });
  console.relink(4);
  fixture.until([&] { return !holds_blue(fixture, 4, pkey); });
}

}  // namespace
}  // namespace ibpod
