// The start of the tests of giving and restoring a VF: a node, a pod, and the record of an
// attachment, in every kind of node.
#pragma once

#include "lib/node/restore.h"
#include "lib/node/vf.h"
#include "tests/support/fake_kernel.h"

#include <cerrno>
#include <string>
#include <vector>

namespace ibpod::node {

inline const ib::PciAddress kVf = fake::vf_address(0, 0);
inline const Path kPod = "/run/netns/pod";
inline const Deadline kSoon = Deadline::in(Duration(600'000));
inline const Guids kSpecGuids{ib::Guid(0x0200000000000a01), ib::Guid(0x0200000000000a01)};

// How a kernel is set up, and what the network's rdmaIsolation says.
struct KernelVariant {
  fake::IpoibReappears reappears;
  nl::RdmaNetnsMode mode;
  bool isolation;
};
inline std::vector<KernelVariant> kernel_variants() {
  std::vector<KernelVariant> all;
  for (const auto reappears : {fake::IpoibReappears::in_host, fake::IpoibReappears::in_target}) {
    all.push_back({reappears, nl::RdmaNetnsMode::exclusive, true});
    all.push_back({reappears, nl::RdmaNetnsMode::exclusive, false});
    all.push_back({reappears, nl::RdmaNetnsMode::shared, false});
  }
  return all;
}
inline std::string text(const KernelVariant& variant) {
  return std::string(variant.reappears == fake::IpoibReappears::in_host ? "old" : "new") +
         " kernel, " + (variant.mode == nl::RdmaNetnsMode::shared ? "shared" : "exclusive") +
         (variant.isolation ? ", isolation" : "");
}

// The properties of a VF, and those that are requested for it.
struct SpecCase {
  const char* name;
  bool fresh;  // it has no GUID
  std::optional<Guids> guids;
  std::optional<LinkPolicy> policy;
  std::optional<uint32_t> mtu;
};
inline const std::vector<SpecCase> kSpecCases{
    {"nothing", false, {}, {}, {}},
    {"a GUID", false, kSpecGuids, {}, {}},
    {"the GUID that it has", false, Guids{fake::vf_guid(0, 0), fake::vf_guid(0, 0)}, {}, {}},
    {"a policy and an MTU", false, {}, LinkPolicy::disable, 1500},
    {"all at once", false, kSpecGuids, LinkPolicy::enable, 1500},
    {"a GUID for a VF without any", true, kSpecGuids, LinkPolicy::automatic, {}},
};

struct AttachmentFixture {
  fake::FakeKernel k;
  fake::State before;
  Record record;
  bool rebind_pending_on_disk = false;
  bool disk_full = false;
  const WriteRecord write = [this](const Record& now) -> Status {
    if (disk_full) return Error::from_errno(ENOSPC, "write the record");
    rebind_pending_on_disk = now.rebind_pending;
    return ok();
  };

  AttachmentFixture(const KernelVariant& variant, const SpecCase& spec_case,
                    unsigned rdma_count = 1) {
    k = fake::node_with(1, 3);
    fake::PciFunction& function = k.function_state(kVf);
    function.rdma_count = rdma_count;
    if (spec_case.fresh) make_fresh(function);
    if (spec_case.fresh || rdma_count != 1) rebind();
    k.state.rdma_mode = variant.mode;
    k.ipoib_reappears = variant.reappears;
    k.renames_while_up = variant.reappears == fake::IpoibReappears::in_target;
    record.device = kVf;
    record.netns = k.make_namespace(kPod);
    record.spec = {"net1",        spec_case.guids, spec_case.policy,
                   spec_case.mtu, std::nullopt,    variant.isolation};
    observe_now();
  }
  AttachmentFixture(const AttachmentFixture&) = delete;
  AttachmentFixture& operator=(const AttachmentFixture&) = delete;
  AttachmentFixture(AttachmentFixture&&) = delete;
  AttachmentFixture& operator=(AttachmentFixture&&) = delete;
  ~AttachmentFixture() = default;
  void observe_now() {
    k.settle();
    record.original = observe(k, *k.function(kVf).value(), record.spec).value();
    before = k.state;
  }
  Status give_now() { return move_to_pod(k, record, kSoon); }
  // As another process would: it knows no more than the disk.
  Status restore_now() {
    record.rebind_pending = rebind_pending_on_disk;
    return restore(k, record, write, kSoon);
  }
  std::string changes() const { return fake::diff(before, k.state); }

 private:
  static void make_fresh(fake::PciFunction& function) {
    function.node_guid.value = ib::Guid();
    function.port_guid.value = ib::Guid();
    function.policy = LinkPolicy::disable;
  }
  void rebind() {
    k.unbind(kVf);
    k.bind(kVf, "mlx5_core").value();
  }
};

}  // namespace ibpod::node
