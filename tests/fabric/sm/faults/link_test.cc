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

struct LinkBed : SmBed {
  LinkBed() {
    partition("blue");
    REQUIRE(bind(5, "blue") == "verified");
  }
  fabric::Binding get(unsigned host) const {
    const auto found = client().get_binding(request(host, "blue").attachment, patience());
    if (!found) FAIL(found.error().text());
    return *found;
  }
  Result<fabric::Binding> bind_within(unsigned host, Duration patience) const {
    return client().bind(request(host, "blue"), SmBed::patience(patience));
  }
  Console console;
};

bool of_absence(Reason reason) {
  return reason == Reason::port_unknown || reason == Reason::unreachable ||
         reason == Reason::timeout || reason == Reason::port_down;
}

TEST_CASE("bound while its cable is out: told why at the deadline, verified when it is back") {
  LinkBed bed;
  for (const unsigned host : {1u, 4u}) {
    CAPTURE(host);
    bed.console.unlink(host);
    const auto bound = bed.bind_within(host, Duration(6000));
    REQUIRE(bound);
    CHECK(bound->state != fabric::State::verified);
    CHECK_MESSAGE(of_absence(bound->standing.reason), name(bound->standing.reason));
    CHECK_FALSE(bound->standing.text.empty());
    bed.console.relink(host);
    bed.until([&] { return bed.get(host).state == fabric::State::verified; });
    check_truth(bed);
  }
}

TEST_CASE("a cable that goes out at any moment of a Bind") {
  LinkBed bed;
  std::mt19937 random = random_of("link");
  const int rounds = all_steps() ? 100 : 3;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    auto binding =
        std::async(std::launch::async, [&] { return bed.bind_within(2, Duration(3000)); });
    for (auto n = random() % 6; n > 0; --n) (void)bed.well();  // as long as that takes
    bed.console.unlink(2);
    const auto bound = binding.get();
    REQUIRE(bound);
    // It may have been verified before.
    if (bound->state != fabric::State::verified)
      CHECK_MESSAGE(bound->standing.reason != Reason::none, bound->standing.text);
    bed.until([&] {
      return bed.get(2).state == fabric::State::unknown || of_absence(bed.get(2).standing.reason);
    });
    bed.console.relink(2);
    bed.until([&] { return bed.get(2).state == fabric::State::verified; });
    check_truth(bed);
    CHECK(bed.unbind(2) == "released");
    check_truth(bed);
  }
}

TEST_CASE("a node that was switched off: its table is new, and gets its key again") {
  LinkBed bed;
  REQUIRE(bed.bind(3, "blue") == "verified");
  bed.console.clear(3);
  bed.until([&] { return bed.get(3).state == fabric::State::unknown; });
  bed.console.relink(3);
  bed.until([&] { return bed.get(3).state == fabric::State::verified; });
  check_truth(bed);
}

TEST_CASE(
    "an Unbind while the cable is out is not done before the port has been seen without the key") {
  LinkBed bed;
  REQUIRE(bed.bind(3, "blue") == "verified");
  bed.console.unlink(3);
  CHECK(bed.unbind(3, "c1", Duration(3000)) == "releasing");
  bed.until([&] { return of_absence(bed.get(3).standing.reason); });
  bed.console.relink(3);
  bed.until([&] { return shown(bed).find(SmBed::request(3, "blue").attachment) == nullptr; });
  check_truth(bed);
}

bool holds_blue(SmBed& bed, unsigned host, ib::PKey pkey) {
  for (const ib::PKey key : bed.table(host))
    if (key.same_partition(pkey)) return true;
  return false;
}

// OpenSM corrects its table before it carries anything, and so does the look at all ports.
TEST_CASE(
    "a former member whose cable is out keeps its partition; forgotten, it is cleaned later") {
  SmBed bed;
  Console console;
  fabric::Tenancy blue = SmBed::tenancy("blue");
  blue.members = {{guid_of(4), fabric::Membership::full, ""}};
  bed.partition(blue);
  const auto made = bed.client().list_partitions({}, SmBed::patience());
  REQUIRE(made);
  const ib::PKey pkey = *made->items.at(0).tenancy.pkey;
  bed.until([&] { return holds_blue(bed, 4, pkey); });
  bed.until([&] { return bed.metric("ibpod_sm_ports{state=\"all\"}") > 8; });
  console.unlink(4);
  bed.until([&] { return bed.metric("ibpod_sm_ports{state=\"unseen\"}") == 1; });
  const auto partitions = [&] {
    return bed.client().list_partitions({}, SmBed::patience())->items;
  };
  REQUIRE(bed.client().delete_partition("blue", SmBed::patience()));
  bed.until([&] {
    return !partitions().empty() &&
           partitions()[0].standing.text.find(guid_of(4).text()) != std::string::npos;
  });
  const auto again = bed.client().create_partition(blue, SmBed::patience());
  CHECK(again.error().code() == Code::busy);
  REQUIRE(bed.client().delete_partition("blue", SmBed::patience(), true));
  bed.until([&] { return partitions().empty(); });
  console.relink(4);
  bed.until([&] { return !holds_blue(bed, 4, pkey); });
}

}  // namespace
}  // namespace ibpod
