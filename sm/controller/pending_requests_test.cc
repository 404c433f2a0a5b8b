#include "sm/controller/pending_requests.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using fabric::State;
using For = Waiting::For;
constexpr Waiting::Time at(int ms) { return Waiting::Time(std::chrono::milliseconds(ms)); }
const fabric::Attachment kNet1{"n1", "c1", "net1"}, kNet2{"n1", "c1", "net2"};

fabric::Binding binding(const fabric::Attachment& attachment, State state) {
  fabric::Binding made;
  made.attachment = attachment;
  made.state = state;
  return made;
}

struct Told {
  std::string all;
  Waiting::Done as(const std::string& who) {
    return [this, who](const Result<fabric::Binding>& result) {
      all +=
          who + ":" + std::string(result ? name(result->state) : name(result.error().code())) + " ";
    };
  }
};

TEST_CASE("everyone is told once, when what he waits for has come") {
  Told told;
  Waiting waiting;
  waiting.add(kNet1, For::verified, at(10), told.as("a"));
  waiting.add(kNet1, For::verified, at(20), told.as("b"));
  waiting.add(kNet1, For::released, at(30), told.as("c"));
  waiting.add(kNet2, For::verified, at(40), told.as("d"));
  CHECK(waiting.due() == at(10));
  waiting.tell(binding(kNet1, State::written));
  waiting.tell(binding(kNet1, State::unknown));
  CHECK(told.all.empty());
  waiting.tell(binding(kNet1, State::verified));
  CHECK(told.all == "a:verified b:verified ");
  CHECK(waiting.due() == at(30));
  waiting.tell(binding(kNet1, State::released));
  CHECK(told.all == "a:verified b:verified c:released ");
  CHECK(waiting.size() == 1);
}

TEST_CASE("who waits for a binding that is taken away waits no longer") {
  Told told;
  Waiting waiting;
  waiting.add(kNet1, For::verified, at(10), told.as("a"));
  waiting.tell(binding(kNet1, State::releasing));
  CHECK(told.all == "a:releasing ");
}

TEST_CASE("at the deadline one is told how it stands") {
  Told told;
  Waiting waiting;
  waiting.add(kNet1, For::verified, at(10), told.as("a"));
  waiting.add(kNet2, For::released, at(10), told.as("b"));
  waiting.add(kNet2, For::released, at(11), told.as("c"));
  const auto now = [](const fabric::Attachment& attachment) {
    return attachment == kNet1 ? std::optional(binding(kNet1, State::written)) : std::nullopt;
  };
  waiting.expire(at(9), now);
  CHECK(told.all.empty());
  waiting.expire(at(10), now);
  CHECK(told.all == "a:written b:released ");
  CHECK(waiting.due() == at(11));
}

TEST_CASE("a service that ends leaves nobody waiting") {
  Told told;
  {
    Waiting waiting;
    waiting.add(kNet1, For::verified, at(10), told.as("a"));
    waiting.add(kNet2, For::verified, at(10), told.as("b"));
  }
  CHECK(told.all == "a:unavailable b:unavailable ");
}

TEST_CASE("who is told may wait anew") {
  int told = 0;
  Waiting waiting;
  waiting.add(kNet1, For::verified, at(10), [&](const Result<fabric::Binding>&) {
    ++told;
    waiting.add(kNet1, For::verified, at(20), [&](const Result<fabric::Binding>&) { ++told; });
  });
  waiting.tell(binding(kNet1, State::verified));
  CHECK(told == 1);
  CHECK(waiting.size() == 1);
}

}  // namespace
}  // namespace ibpod::sm
