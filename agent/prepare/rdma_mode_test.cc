#include "agent/prepare/rdma_mode.h"

#include "tests/support/fake_kernel.h"

#include <doctest/doctest.h>

namespace ibpod::agent::prepare {
namespace {

using nl::RdmaNetnsMode;

fake::FakeKernel node_in(RdmaNetnsMode mode) {
  fake::FakeKernel k = fake::node_with(1, 1);
  k.state.rdma_mode = mode;
  return k;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("three words are modes, and any other is refused with them") {
  CHECK(*parse_rdma_netns("exclusive") == RdmaNetns::exclusive);
  CHECK(*parse_rdma_netns("shared") == RdmaNetns::shared);
  CHECK(*parse_rdma_netns("keep") == RdmaNetns::keep);
  for (const char* word : {"", "Exclusive", "private", "0"}) {
    CAPTURE(word);
    CHECK(parse_rdma_netns(word).error().text() ==
          "expected exclusive, shared or keep, got \"" + std::string(word) + "\"");
  }
}

TEST_CASE("what is wanted and what is make the verdict") {
  const struct {
    RdmaNetns wanted;
    RdmaNetnsMode now;
    bool as_wanted;
    bool isolates;
  } cases[] = {
      {RdmaNetns::exclusive, RdmaNetnsMode::exclusive, true, true},
      {RdmaNetns::exclusive, RdmaNetnsMode::shared, false, false},
      {RdmaNetns::shared, RdmaNetnsMode::exclusive, false, true},
      {RdmaNetns::shared, RdmaNetnsMode::shared, true, false},
      {RdmaNetns::keep, RdmaNetnsMode::exclusive, true, true},
      {RdmaNetns::keep, RdmaNetnsMode::shared, true, false},
  };
  for (const auto& entry : cases) {
    const RdmaModeStatus status = evaluate(entry.wanted, entry.now);
    CAPTURE(status.text);
    CHECK(status.matches_config == entry.as_wanted);
    CHECK((status.mode == nl::RdmaNetnsMode::exclusive) == entry.isolates);
    CHECK(contains(status.remedy, "reboot") != entry.as_wanted);
    CHECK(status.remedy.empty() == entry.as_wanted);
  }
}

TEST_CASE("the mode is set while the kernel allows it") {
  fake::FakeKernel k = node_in(RdmaNetnsMode::shared);
  const RdmaModeStatus status = set_rdma_mode(k, RdmaNetns::exclusive);
  CHECK(status.matches_config);
  CHECK(status.mode == nl::RdmaNetnsMode::exclusive);
  CHECK(k.state.rdma_mode == RdmaNetnsMode::exclusive);
}

TEST_CASE("with a pod on the node the mode stays, and the verdict says what to do") {
  fake::FakeKernel k = node_in(RdmaNetnsMode::shared);
  k.make_namespace("/run/netns/pod");
  const RdmaModeStatus status = set_rdma_mode(k, RdmaNetns::exclusive);
  CHECK_FALSE(status.matches_config);
  CHECK(status.mode == nl::RdmaNetnsMode::shared);
  CHECK(contains(status.remedy, "options ib_core netns_mode=0"));
  CHECK(status.with_remedy() == status.text + ": " + status.remedy);
  CHECK(contains(status.text, "no other network namespace"));
  CHECK(k.state.rdma_mode == RdmaNetnsMode::shared);
}

TEST_CASE("a mode that is right already is not set, nor is any to be kept") {
  for (const RdmaNetns wanted : {RdmaNetns::shared, RdmaNetns::keep}) {
    fake::FakeKernel k = node_in(RdmaNetnsMode::shared);
    CHECK(set_rdma_mode(k, wanted).matches_config);
    CHECK(k.orders() == 0);
  }
}

TEST_CASE("a mode that another process changes is noticed, and the change back too") {
  fake::FakeKernel k = node_in(RdmaNetnsMode::exclusive);
  const RdmaModeStatus first = set_rdma_mode(k, RdmaNetns::exclusive);
  CHECK(refresh_rdma_mode(k, RdmaNetns::exclusive, first) == first);
  k.state.rdma_mode = RdmaNetnsMode::shared;
  const RdmaModeStatus changed = refresh_rdma_mode(k, RdmaNetns::exclusive, first);
  CHECK(changed.mode == nl::RdmaNetnsMode::shared);
  CHECK(contains(changed.text, "it was changed after the agent started"));
  k.state.rdma_mode = RdmaNetnsMode::exclusive;
  CHECK(refresh_rdma_mode(k, RdmaNetns::exclusive, changed) == first);
  CHECK(k.orders() == 0);
}

TEST_CASE("a refusal is still the reason when the mode is looked at again") {
  fake::FakeKernel k = node_in(RdmaNetnsMode::shared);
  k.make_namespace("/run/netns/pod");
  const RdmaModeStatus refused = set_rdma_mode(k, RdmaNetns::exclusive);
  CHECK(refresh_rdma_mode(k, RdmaNetns::exclusive, refused) == refused);
}

TEST_CASE("a kernel that does not answer isolates nothing") {
  fake::FakeKernel k = node_in(RdmaNetnsMode::exclusive);
  k.fail_from(0, fake::FakeKernel::Count::calls);
  const RdmaModeStatus status = set_rdma_mode(k, RdmaNetns::exclusive);
  CHECK_FALSE(status.mode);
  CHECK_FALSE(status.matches_config);
  CHECK(status.text.starts_with("cannot read the RDMA namespace mode: "));
  CHECK(contains(status.remedy, "modprobe ib_core"));
}

}  // namespace
}  // namespace ibpod::agent::prepare
