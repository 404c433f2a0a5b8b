#include "agent/prepare/rdma_mode.h"

#include "lib/base/words.h"
#include "lib/node/describe.h"

namespace ibpod::agent::prepare {
namespace {

using nl::RdmaNetnsMode;

std::string name(RdmaNetnsMode mode) {
  return mode == RdmaNetnsMode::exclusive ? "exclusive" : "shared";
}

// The effect of the mode on pods.
std::string meaning(RdmaNetnsMode mode) {
  return mode == RdmaNetnsMode::exclusive
             ? "a pod sees its own RDMA devices only"
             : "every pod sees every RDMA device, and no pool that promises isolation is offered";
}

std::string why(const std::optional<Error>& refusal) {
  if (!refusal) return "it was changed after the agent started";
  if (refusal->code() != Code::busy) return refusal->text();
  return "the kernel changes the mode only while there is no other network namespace (" +
         refusal->text() + ")";
}

// The agent sets the mode when it starts.
std::string remedy(RdmaNetnsMode wanted) {
  return node::set_at_boot(wanted) +
         ", or restart the agent while the node has no pods and no other network namespace";
}

RdmaModeStatus unknown(const Error& error) {
  return {std::nullopt, false, "cannot read the RDMA namespace mode: " + error.text(),
          "load the RDMA core (modprobe ib_core), and check dmesg"};
}

}  // namespace

Result<RdmaNetns> parse_rdma_netns(std::string_view word) {
  return parse_word<RdmaNetns>({{"exclusive", RdmaNetns::exclusive},
                                {"shared", RdmaNetns::shared},
                                {"keep", RdmaNetns::keep}},
                               word);
}

RdmaModeStatus evaluate(RdmaNetns wanted, RdmaNetnsMode now, const std::optional<Error>& refusal) {
  RdmaModeStatus status{now, true, "RDMA namespace mode " + name(now) + ": " + meaning(now)};
  if (wanted == RdmaNetns::keep) return status;
  const RdmaNetnsMode mode =
      wanted == RdmaNetns::exclusive ? RdmaNetnsMode::exclusive : RdmaNetnsMode::shared;
  if (mode == now) return status;
  status.matches_config = false;
  status.text = "RDMA namespace mode " + name(now) + ", but rdmaNetns is " + name(mode) + ": " +
                meaning(now) + "; " + why(refusal);
  status.remedy = remedy(mode);
  return status;
}

RdmaModeStatus set_rdma_mode(node::Kernel& kernel, RdmaNetns wanted) {
  Result<RdmaNetnsMode> now = kernel.rdma_netns_mode();
  if (!now) return unknown(now.error());
  if (evaluate(wanted, *now).matches_config) return evaluate(wanted, *now);
  const Status set = kernel.set_rdma_netns_mode(
      wanted == RdmaNetns::exclusive ? RdmaNetnsMode::exclusive : RdmaNetnsMode::shared);
  now = kernel.rdma_netns_mode();
  if (!now) return unknown(now.error());
  return evaluate(wanted, *now, set ? std::nullopt : std::optional<Error>(set.error()));
}

RdmaModeStatus refresh_rdma_mode(node::Kernel& kernel, RdmaNetns wanted,
                                 const RdmaModeStatus& before) {
  const Result<RdmaNetnsMode> now = kernel.rdma_netns_mode();
  if (!now) return unknown(now.error());
  return before.mode == *now ? before : evaluate(wanted, *now);
}

}  // namespace ibpod::agent::prepare
