#include "sm/controller/fabric_calls.h"

#include "sm/verify/presence.h"

#include <algorithm>

namespace ibpod::sm::controller {
namespace {

// Checks that the engine could enforce the resulting partitions.
Status check_engine(const Diagnostics& diagnostics, const fabricapi::PlanRequest& request) {
  TRY(diagnostics.partitions_after(request));
  return ok();
}

}  // namespace

FabricCalls::Time FabricCalls::until(Deadline deadline) const {
  return std::min(deadline.time(), deps_.now.steady + timeout_);
}

// --- partitions

void FabricCalls::create_partition(const Caller& caller, const fabric::Partition& partition,
                                   Done<fabric::PartitionStatus> done) {
  const Status possible = check_engine(deps_.diagnostics, {.partition = partition, .without = {}});
  auto created = possible ? deps_.registry.partitions.create(partition) : possible.error();
  deps_.fabric.note_seen_ports();
  deps_.commits.audit(caller, "create partition", partition.name, status_of(created));
  deps_.commits.answer(std::move(created), std::move(done));
}

void FabricCalls::update_partition(const Caller& caller, const fabric::Partition& partition,
                                   Done<fabric::PartitionStatus> done) {
  const Status possible =
      check_engine(deps_.diagnostics, {.partition = partition, .without = {}, .update = true});
  auto updated =
      possible ? deps_.registry.partitions.update(partition, deps_.now) : possible.error();
  deps_.fabric.note_seen_ports();
  deps_.commits.audit(caller, "update partition", partition.name, status_of(updated));
  deps_.commits.answer(std::move(updated), std::move(done));
}

void FabricCalls::delete_partition(const Caller& caller, const std::string& name,
                                   Done<fabric::PartitionStatus> done) {
  auto removed = deps_.registry.partitions.remove(name);
  deps_.commits.audit(caller, "delete partition", name, status_of(removed));
  deps_.commits.answer(std::move(removed), std::move(done));
}

void FabricCalls::forget_ports(const Caller& caller, const std::string& partition,
                               Done<fabric::PartitionStatus> done) {
  auto removed =
      deps_.registry.partitions.forget_ports(partition, [this](ib::Guid port, ib::PKey pkey) {
        return verify::is_known_to_hold(deps_.fabric.verifier().observations(), port, pkey);
      });
  deps_.commits.audit(caller, "force delete partition", partition, status_of(removed));
  deps_.commits.answer(std::move(removed), std::move(done));
}

// --- bindings and nodes

void FabricCalls::bind(const Caller& caller, const fabricapi::BindRequest& request,
                       const fabricapi::CallContext& context, Done<fabric::Binding> done) {
  deps_.binding_calls.bind(caller, request, context, until(context.deadline()), std::move(done),
                           deps_.now);
}

void FabricCalls::unbind(const Caller& caller, const fabric::Attachment& attachment,
                         Deadline deadline, Done<fabric::Binding> done) {
  deps_.binding_calls.unbind(caller, attachment, until(deadline), std::move(done), deps_.now);
}

void FabricCalls::sync(const Caller&, const fabricapi::SyncRequest& request,
                       Done<fabricapi::SyncAnswer> done) {
  deps_.commits.answer(deps_.registry.nodes.sync(request, deps_.now), std::move(done));
}

void FabricCalls::observe(const Caller&, const fabricapi::ObserveRequest& request,
                          Done<v1::ObserveResponse> done) {
  done(deps_.fabric.observe(request, deps_.now));
}

void FabricCalls::allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                                 Done<std::vector<fabricapi::AllocatedGuid>> done) {
  const uint64_t before = deps_.registry.journal.changes();
  auto allocated = deps_.registry.nodes.allocate(request);
  if (allocated) deps_.registry.nodes.note_contact(request.node, deps_.now);
  deps_.commits.audit(caller, "allocate GUIDs", request.node + "/" + request.pf,
                      status_of(allocated), deps_.commits.effect_since(before));
  deps_.commits.answer(std::move(allocated), std::move(done));
}

void FabricCalls::forget_node(const Caller& caller, const fabricapi::ForgetRequest& request,
                              Deadline deadline, Done<v1::FabricNode> done) {
  const std::string& node = request.node;
  const Result<v1::FabricNode> forgotten = deps_.registry.nodes.forget(request, deps_.now);
  deps_.commits.audit(caller, request.force ? "force forget node" : "forget node", node,
                      status_of(forgotten));
  if (!forgotten) return done(forgotten);
  deps_.binding_calls.forget_node(node);
  deps_.commits.when_committed(
      [this, node, until = until(deadline), done = std::move(done)](const Status& committed) {
        if (!committed) return done(committed.error());
        deps_.pending_forgets.add(node, until, done);
      });
}

}  // namespace ibpod::sm::controller
