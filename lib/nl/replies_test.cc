#include "lib/nl/replies.h"

#include "lib/nl/rtnl.h"
#include "tests/support/recorded.h"

#include <doctest/doctest.h>

namespace ibpod::nl {
namespace {

constexpr uint32_t kRecordedUnder = 7;

Status verdict_of(const std::string& name) {
  Replies replies;
  const auto verdict = take_replies(recorded(name), kRecordedUnder, "set the MTU of v0", replies);
  REQUIRE(verdict);
  CHECK(replies.payloads.empty());
  return *verdict;
}

TEST_CASE("a refusal keeps its errno and the kernel's own words") {
  const Status verdict = verdict_of("refusal-mtu");
  REQUIRE(!verdict);
  CHECK(verdict.error().code() == Code::invalid);
  CHECK(verdict.error().error_number() == EINVAL);
  CHECK(verdict.error().text() ==
        "set the MTU of v0: kernel: mtu less than device minimum: Invalid argument");
}

TEST_CASE("a refusal that echoes the request says the same") {
  CHECK(verdict_of("refusal-mtu-echoed").error().text() ==
        verdict_of("refusal-mtu").error().text());
}

TEST_CASE("a refusal without words is the errno alone") {
  const Status verdict = verdict_of("refusal-no-link");
  REQUIRE(!verdict);
  CHECK(verdict.error().code() == Code::not_found);
  CHECK(verdict.error().text() == "set the MTU of v0: kernel: No such device");
}

TEST_CASE("an acknowledgement is a success") { CHECK(verdict_of("acknowledgement").ok()); }

TEST_CASE("a list goes over several datagrams up to its end") {
  Replies replies;
  CHECK(!take_replies(recorded("dump-part"), kRecordedUnder, "list", replies));
  CHECK(replies.payloads.size() >= 3);
  const size_t before = replies.payloads.size();
  const auto verdict = take_replies(recorded("dump-end"), kRecordedUnder, "list", replies);
  REQUIRE(verdict);
  CHECK(verdict->ok());
  CHECK(!replies.interrupted);
  CHECK(replies.payloads.size() == before);
  CHECK(parse_link(replies.payloads.at(0))->name == "lo");
}

TEST_CASE("the answer to another request is passed over") {
  Replies replies;
  CHECK(!take_replies(recorded("refusal-mtu"), kRecordedUnder + 1, "set", replies));
  CHECK(!take_replies(recorded("dump-part"), kRecordedUnder + 1, "list", replies));
  CHECK(replies.payloads.empty());
}

TEST_CASE("a list that changed while it was read says so, even in its last message") {
  std::vector<std::byte> end = recorded("dump-end");
  end.at(6) |= std::byte{0x10};  // NLM_F_DUMP_INTR
  Replies replies;
  CHECK(take_replies(end, kRecordedUnder, "list", replies)->ok());
  CHECK(replies.interrupted);
}

TEST_CASE("a list that ends in an error is refused") {
  std::vector<std::byte> end = recorded("dump-end");
  end.at(16) = std::byte{0xa6};  // -EMSGSIZE
  end.at(17) = end.at(18) = end.at(19) = std::byte{0xff};
  Replies replies;
  const auto verdict = take_replies(end, kRecordedUnder, "list", replies);
  REQUIRE(verdict);
  CHECK(verdict->error().error_number() == EMSGSIZE);
}

TEST_CASE("a datagram may be cut anywhere") {
  for (const char* name : {"refusal-mtu", "refusal-mtu-echoed", "dump-part", "dump-end"}) {
    const std::vector<std::byte> whole = recorded(name);
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
      Replies replies;
      (void)take_replies(cut, kRecordedUnder, "test", replies);
    }
  }
}

}  // namespace
}  // namespace ibpod::nl
