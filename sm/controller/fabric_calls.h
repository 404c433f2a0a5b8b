// FabricCalls: the calls of fabric.proto, which CallGate has authorized. Each changes or reads the
// registries at once; the caller is answered after the commit of Controller::tick(), and a Bind or
// an Unbind when the port is verified or released. For one thread.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/registries.h"
#include "sm/controller/binding_calls.h"
#include "sm/controller/commit_queue.h"
#include "sm/controller/declared_reconciler.h"
#include "sm/controller/diagnostics.h"
#include "sm/controller/fabric_reconciler.h"
#include "sm/controller/pending_forgets.h"
#include "sm/controller/watches.h"

#include <memory>
#include <string>
#include <vector>

namespace ibpod::sm::controller {

class FabricCalls {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Caller = fabricapi::Caller;
  using Time = Deadline::Clock::time_point;

  // All of them outlive it.
  struct Deps {
    bindings::Registries& registry;
    FabricReconciler& fabric;
    const DeclaredReconciler& declared;
    const Diagnostics& diagnostics;
    CommitQueue& commits;
    BindingCalls& binding_calls;
    PendingForgets& pending_forgets;
    Watches& watches;
    const state::Now& now;  // the time of the present call
  };
  // `timeout`: the longest wait of a call, even if its deadline is later.
  FabricCalls(Deps deps, Duration timeout) : deps_(deps), timeout_(timeout) {}

  // Each Done runs exactly once.
  void create_partition(const Caller& caller, const fabric::Partition& partition,
                        Done<fabric::PartitionStatus> done);
  void update_partition(const Caller& caller, const fabric::Partition& partition,
                        Done<fabric::PartitionStatus> done);
  void delete_partition(const Caller& caller, const std::string& name,
                        Done<fabric::PartitionStatus> done);
  void forget_ports(const Caller& caller, const std::string& partition,
                    Done<fabric::PartitionStatus> done);
  void bind(const Caller& caller, const fabricapi::BindRequest& request,
            const fabricapi::CallContext& context, Done<fabric::Binding> done);
  void unbind(const Caller& caller, const fabric::Attachment& attachment, Deadline deadline,
              Done<fabric::Binding> done);
  void sync(const Caller& caller, const fabricapi::SyncRequest& request,
            Done<fabricapi::SyncAnswer> done);
  void observe(const Caller& caller, const fabricapi::ObserveRequest& request,
               Done<v1::ObserveResponse> done);
  void allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                      Done<std::vector<fabricapi::AllocatedGuid>> done);
  void forget_node(const Caller& caller, const fabricapi::ForgetRequest& request, Deadline deadline,
                   Done<v1::FabricNode> done);
  void plan(const Caller& caller, const fabricapi::PlanRequest& request,
            Done<v1::PlanResponse> done);
  void explain(const Caller& caller, const fabricapi::ExplainRequest& request,
               Done<fabricapi::Explanation> done);
  void health(const Caller& caller, Done<v1::FabricHealthResponse> done);

  // Lookups, answered after a commit.
  void list_partitions(const Caller& caller, const fabricapi::PageRequest& page,
                       Done<fabricapi::ListPage<fabric::PartitionStatus>> done);
  void get_binding(const Caller& caller, const fabric::Attachment& attachment,
                   Done<fabric::Binding> done);
  void list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                     const fabricapi::PageRequest& page,
                     Done<fabricapi::ListPage<fabric::Binding>> done);
  void watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                      Watches::Callback on_change, Done<std::shared_ptr<fabricapi::Watch>> done);
  void list_nodes(const Caller& caller, Done<v1::ListNodesResponse> done);

 private:
  Time until(Deadline deadline) const;

  Deps deps_;
  Duration timeout_;
};

}  // namespace ibpod::sm::controller
