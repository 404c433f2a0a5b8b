#include "sm/controller/pending_requests.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

using fabric::BindingState;
using For = PendingRequests::WaitFor;
constexpr PendingRequests::Time at(int ms) {
  return PendingRequests::Time(std::chrono::milliseconds(ms));
}
const fabric::Attachment kNet1{"n1", "c1", "net1"}, kNet2{"n1", "c1", "net2"};

fabric::Binding binding(const fabric::Attachment& attachment, BindingState state) {
  fabric::Binding made;
  made.attachment = attachment;
  made.state = state;
  return made;
}

struct Answers {
  std::string all;
  PendingRequests::Done as(const std::string& who) {
    return [this, who](const Result<fabric::Binding>& result) {
      all +=
          who + ":" + std::string(result ? name(result->state) : name(result.error().code())) + " ";
    };
  }
};

TEST_CASE("each request is answered once, when its state is reached") {
  Answers answers;
  PendingRequests waiting;
  waiting.add(kNet1, For::verified, at(10), answers.as("a"));
  waiting.add(kNet1, For::verified, at(20), answers.as("b"));
  waiting.add(kNet1, For::released, at(30), answers.as("c"));
  waiting.add(kNet2, For::verified, at(40), answers.as("d"));
  CHECK(waiting.due() == at(10));
  waiting.notify(binding(kNet1, BindingState::written));
  waiting.notify(binding(kNet1, BindingState::unknown));
  CHECK(answers.all.empty());
  waiting.notify(binding(kNet1, BindingState::verified));
  CHECK(answers.all == "a:verified b:verified ");
  CHECK(waiting.due() == at(30));
  waiting.notify(binding(kNet1, BindingState::released));
  CHECK(answers.all == "a:verified b:verified c:released ");
  CHECK(waiting.size() == 1);
}

TEST_CASE("a request for a binding that is removed waits no longer") {
  Answers answers;
  PendingRequests waiting;
  waiting.add(kNet1, For::verified, at(10), answers.as("a"));
  waiting.notify(binding(kNet1, BindingState::releasing));
  CHECK(answers.all == "a:releasing ");
}

TEST_CASE("at the deadline a request gets the present state") {
  Answers answers;
  PendingRequests waiting;
  waiting.add(kNet1, For::verified, at(10), answers.as("a"));
  waiting.add(kNet2, For::released, at(10), answers.as("b"));
  waiting.add(kNet2, For::released, at(11), answers.as("c"));
  const auto now = [](const fabric::Attachment& attachment) {
    return attachment == kNet1 ? std::optional(binding(kNet1, BindingState::written))
                               : std::nullopt;
  };
  waiting.expire(at(9), now);
  CHECK(answers.all.empty());
  waiting.expire(at(10), now);
  CHECK(answers.all == "a:written b:released ");
  CHECK(waiting.due() == at(11));
}

TEST_CASE("a service that ends answers all requests") {
  Answers answers;
  {
    PendingRequests waiting;
    waiting.add(kNet1, For::verified, at(10), answers.as("a"));
    waiting.add(kNet2, For::verified, at(10), answers.as("b"));
  }
  CHECK(answers.all == "a:unavailable b:unavailable ");
}

TEST_CASE("an answered caller can wait again") {
  int answered = 0;
  PendingRequests waiting;
  waiting.add(kNet1, For::verified, at(10), [&](const Result<fabric::Binding>&) {
    ++answered;
    waiting.add(kNet1, For::verified, at(20), [&](const Result<fabric::Binding>&) { ++answered; });
  });
  waiting.notify(binding(kNet1, BindingState::verified));
  CHECK(answered == 1);
  CHECK(waiting.size() == 1);
}

}  // namespace
}  // namespace ibpod::sm::controller
