#include "sm/controller/controller.h"

#include "sm/verify/presence.h"

#include <algorithm>

namespace ibpod::sm::controller {

Controller::Controller(Deps deps, ControllerSettings settings, state::Now now)
    : deps_(std::move(deps)),
      call_timeout_(settings.call_timeout),
      now_(now),
      fabric_(deps_, {.epoch = std::move(settings.epoch),
                      .own_port = settings.own_port,
                      .node_report_lifetime = settings.node_report_lifetime}),
      declared_({deps_.registry, deps_.subnet_manager, deps_.telemetry}, settings.has_declared_file,
                now.steady),
      diagnostics_({deps_.registry, deps_.subnet_manager, fabric_.verifier(), fabric_.published(),
                    declared_},
                   settings.sm, now),
      commits_(deps_.registry.journal, deps_.telemetry),
      binding_calls_({deps_.registry, fabric_, commits_, deps_.telemetry, deps_.clock},
                     {.max_pending = settings.max_pending, .changes = settings.changes}) {}

Controller::Time Controller::until(Deadline deadline) const {
  return std::min(deadline.time(), now_.steady + call_timeout_);
}

// --- partitions

// Checks that the engine could enforce the resulting partitions.
Status Controller::check_engine(const fabricapi::PlanRequest& request) const {
  TRY(diagnostics_.partitions_after(request));
  return ok();
}

void Controller::create_partition(const Caller& caller, const fabric::Partition& partition,
                                  Done<fabric::PartitionStatus> done) {
  const Status possible = check_engine({.partition = partition, .without = {}});
  auto created = possible ? deps_.registry.partitions.create(partition) : possible.error();
  fabric_.note_seen_ports();
  commits_.audit(caller, "create partition", partition.name, status_of(created));
  commits_.answer(std::move(created), std::move(done));
}

void Controller::update_partition(const Caller& caller, const fabric::Partition& partition,
                                  Done<fabric::PartitionStatus> done) {
  const Status possible = check_engine({.partition = partition, .without = {}, .update = true});
  auto updated = possible ? deps_.registry.partitions.update(partition, now_) : possible.error();
  fabric_.note_seen_ports();
  commits_.audit(caller, "update partition", partition.name, status_of(updated));
  commits_.answer(std::move(updated), std::move(done));
}

void Controller::delete_partition(const Caller& caller, const std::string& name,
                                  Done<fabric::PartitionStatus> done) {
  auto removed = deps_.registry.partitions.remove(name);
  commits_.audit(caller, "delete partition", name, status_of(removed));
  commits_.answer(std::move(removed), std::move(done));
}

void Controller::forget_ports(const Caller& caller, const std::string& partition,
                              Done<fabric::PartitionStatus> done) {
  auto removed =
      deps_.registry.partitions.forget_ports(partition, [this](ib::Guid port, ib::PKey pkey) {
        return verify::is_known_to_hold(fabric_.verifier().observations(), port, pkey);
      });
  commits_.audit(caller, "force delete partition", partition, status_of(removed));
  commits_.answer(std::move(removed), std::move(done));
}

// --- bindings and nodes

void Controller::bind(const Caller& caller, const fabricapi::BindRequest& request,
                      const fabricapi::CallContext& context, Done<fabric::Binding> done) {
  binding_calls_.bind(caller, request, context, until(context.deadline()), std::move(done), now_);
}

void Controller::unbind(const Caller& caller, const fabric::Attachment& attachment,
                        Deadline deadline, Done<fabric::Binding> done) {
  binding_calls_.unbind(caller, attachment, until(deadline), std::move(done), now_);
}

void Controller::sync(const Caller&, const fabricapi::SyncRequest& request,
                      Done<fabricapi::SyncAnswer> done) {
  commits_.answer(deps_.registry.nodes.sync(request, now_), std::move(done));
}

void Controller::observe(const Caller&, const fabricapi::ObserveRequest& request,
                         Done<v1::ObserveResponse> done) {
  done(fabric_.observe(request, now_));
}

void Controller::allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                                Done<std::vector<fabricapi::AllocatedGuid>> done) {
  const uint64_t before = deps_.registry.journal.changes();
  auto allocated = deps_.registry.nodes.allocate(request);
  if (allocated) deps_.registry.nodes.note_contact(request.node, now_);
  commits_.audit(caller, "allocate GUIDs", request.node + "/" + request.pf, status_of(allocated),
                 commits_.effect_since(before));
  commits_.answer(std::move(allocated), std::move(done));
}

void Controller::forget_node(const Caller& caller, const fabricapi::ForgetRequest& request,
                             Deadline deadline, Done<v1::FabricNode> done) {
  const std::string& node = request.node;
  const Result<v1::FabricNode> forgotten = deps_.registry.nodes.forget(request, now_);
  commits_.audit(caller, request.force ? "force forget node" : "forget node", node,
                 status_of(forgotten));
  if (!forgotten) return done(forgotten);
  binding_calls_.forget_node(node);
  commits_.when_committed(
      [this, node, until = until(deadline), done = std::move(done)](const Status& committed) {
        if (!committed) return done(committed.error());
        pending_forgets_.add(node, until, done);
      });
}

}  // namespace ibpod::sm::controller
