#include "sm/service/service.h"

#include "sm/authority/permits.h"

#include <condition_variable>
#include <mutex>

namespace ibpod::sm {
namespace {

Now present() {
  return {std::chrono::steady_clock::now(),
          std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())};
}

}  // namespace

Service::~Service() { stop(); }

void Service::start(Steward& steward) {
  steward_ = &steward;
  thread_ = std::thread([this] { work_off(); });
}

void Service::stop() {
  errands_.stop();
  if (thread_.joinable()) thread_.join();
}

void Service::work_off() {
  steward_->at(present());
  steward_->turn();
  while (const auto errands = errands_.take(steward_->due())) {
    steward_->at(present());
    for (const Errands::Errand& errand : *errands) errand();
    steward_->turn();
  }
}

void Service::engine_changed() {
  errands_.tell([this] { steward_->engine_changed(); });
}

void Service::seen(Readings readings) {
  errands_.tell([this, readings = std::move(readings)] { steward_->seen(readings); });
}

void Service::declared(Declared declared) {
  errands_.tell([this, declared = std::move(declared)] { steward_->declare(declared); });
}

bool Service::run(const std::function<void(Steward&)>& work, Deadline deadline) {
  // What is still waiting when the caller has gone must not run any more.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void(Steward&)>* work;
    bool done = false;
  };
  const auto shared = std::make_shared<Shared>();
  shared->work = &work;
  const bool asked = errands_.ask([this, shared] {
    const std::lock_guard lock(shared->mutex);
    if (shared->work == nullptr) return;
    (*shared->work)(*steward_);
    shared->done = true;
    shared->changed.notify_one();
  });
  if (!asked) return false;
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_until(lock, deadline.time(), [&] { return shared->done; });
  shared->work = nullptr;
  return shared->done;
}

template <typename Value, typename Work>
void Service::ask(const Done<Value>& done, Work work) {
  const bool asked = errands_.ask([this, done, work = std::move(work)] { work(*steward_, done); });
  if (!asked)
    done(Error(Code::unavailable, "the service has too much to do, or ends; try again later"));
}

void Service::create_partition(const Caller& caller, fabric::Tenancy tenancy,
                               Done<fabric::TenancyStatus> done) {
  const Status permitted = permits(caller, Call::create_partition);
  if (!permitted) return done(permitted.error());
  ask<fabric::TenancyStatus>(
      done, [caller, tenancy = std::move(tenancy)](Steward& steward, const auto& on_done) {
        steward.create_partition(caller, tenancy, on_done);
      });
}

void Service::update_partition(const Caller& caller, fabric::Tenancy tenancy,
                               Done<fabric::TenancyStatus> done) {
  const Status permitted = permits(caller, Call::update_partition);
  if (!permitted) return done(permitted.error());
  ask<fabric::TenancyStatus>(
      done, [caller, tenancy = std::move(tenancy)](Steward& steward, const auto& on_done) {
        steward.update_partition(caller, tenancy, on_done);
      });
}

void Service::delete_partition(const Caller& caller, std::string name,
                               Done<fabric::TenancyStatus> done) {
  const Status permitted = permits(caller, Call::delete_partition);
  if (!permitted) return done(permitted.error());
  ask<fabric::TenancyStatus>(
      done, [caller, name = std::move(name)](Steward& steward, const auto& on_done) {
        steward.delete_partition(caller, name, on_done);
      });
}

void Service::list_partitions(const Caller& caller, Page page,
                              Done<Listed<fabric::TenancyStatus>> done) {
  const Status permitted = permits(caller, Call::list_partitions);
  if (!permitted) return done(permitted.error());
  ask<Listed<fabric::TenancyStatus>>(
      done, [caller, page = std::move(page)](Steward& steward, const auto& on_done) {
        steward.list_partitions(caller, page, on_done);
      });
}

void Service::bind(const Caller& caller, fabricapi::BindRequest request, Deadline deadline,
                   Done<fabric::Binding> done) {
  const Status permitted = permits(caller, Call::bind, request.attachment.node);
  if (!permitted) return done(permitted.error());
  ask<fabric::Binding>(done, [caller, request = std::move(request), deadline](Steward& steward,
                                                                              const auto& on_done) {
    steward.bind(caller, request, deadline, on_done);
  });
}

void Service::unbind(const Caller& caller, fabric::Attachment attachment, Deadline deadline,
                     Done<fabric::Binding> done) {
  const Status permitted = permits(caller, Call::unbind, attachment.node);
  if (!permitted) return done(permitted.error());
  ask<fabric::Binding>(done, [caller, attachment = std::move(attachment), deadline](
                                 Steward& steward, const auto& on_done) {
    steward.unbind(caller, attachment, deadline, on_done);
  });
}

void Service::get_binding(const Caller& caller, fabric::Attachment attachment,
                          Done<fabric::Binding> done) {
  const Status permitted = permits(caller, Call::get_binding, attachment.node);
  if (!permitted) return done(permitted.error());
  ask<fabric::Binding>(
      done, [caller, attachment = std::move(attachment)](Steward& steward, const auto& on_done) {
        steward.get_binding(caller, attachment, on_done);
      });
}

void Service::list_bindings(const Caller& caller, fabricapi::BindingFilter filter, Page page,
                            Done<Listed<fabric::Binding>> done) {
  const Status permitted = permits(caller, Call::list_bindings, filter.node);
  if (!permitted) return done(permitted.error());
  ask<Listed<fabric::Binding>>(done, [caller, filter = std::move(filter), page = std::move(page)](
                                         Steward& steward, const auto& on_done) {
    steward.list_bindings(caller, filter, page, on_done);
  });
}

void Service::watch_bindings(const Caller& caller, fabricapi::BindingFilter filter,
                             std::function<bool(const fabricapi::BindingChange&)> told,
                             Done<std::shared_ptr<Watch>> done) {
  const Status permitted = permits(caller, Call::watch_bindings, filter.node);
  if (!permitted) return done(permitted.error());
  ask<std::shared_ptr<Watch>>(done, [caller, filter = std::move(filter), told = std::move(told)](
                                        Steward& steward, const auto& on_done) {
    steward.watch_bindings(caller, filter, told, on_done);
  });
}

void Service::sync(const Caller& caller, fabricapi::SyncRequest request,
                   Done<fabricapi::SyncAnswer> done) {
  const Status permitted = permits(caller, Call::sync, request.node);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::SyncAnswer>(
      done, [caller, request = std::move(request)](Steward& steward, const auto& on_done) {
        steward.sync(caller, request, on_done);
      });
}

void Service::observe(const Caller& caller, fabricapi::ObserveRequest request,
                      Done<fabricapi::ObserveAnswer> done) {
  const Status permitted = permits(caller, Call::observe, request.node);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::ObserveAnswer>(
      done, [caller, request = std::move(request)](Steward& steward, const auto& on_done) {
        steward.observe(caller, request, on_done);
      });
}

void Service::allocate_guids(const Caller& caller, fabricapi::AllocateRequest request,
                             Done<std::vector<fabricapi::Allocated>> done) {
  const Status permitted = permits(caller, Call::allocate_guids, request.node);
  if (!permitted) return done(permitted.error());
  ask<std::vector<fabricapi::Allocated>>(
      done, [caller, request = std::move(request)](Steward& steward, const auto& on_done) {
        steward.allocate_guids(caller, request, on_done);
      });
}

void Service::list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done) {
  const Status permitted = permits(caller, Call::list_nodes);
  if (!permitted) return done(permitted.error());
  ask<std::vector<fabricapi::Node>>(done, [caller](Steward& steward, const auto& on_done) {
    steward.list_nodes(caller, on_done);
  });
}

void Service::forget_node(const Caller& caller, std::string node, Deadline deadline,
                          Done<fabricapi::Node> done) {
  const Status permitted = permits(caller, Call::forget_node);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::Node>(
      done, [caller, node = std::move(node), deadline](Steward& steward, const auto& on_done) {
        steward.forget_node(caller, node, deadline, on_done);
      });
}

void Service::plan(const Caller& caller, fabricapi::PlanRequest request,
                   Done<fabricapi::Plan> done) {
  const Status permitted = permits(caller, Call::plan);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::Plan>(
      done, [caller, request = std::move(request)](Steward& steward, const auto& on_done) {
        steward.plan(caller, request, on_done);
      });
}

void Service::explain(const Caller& caller, fabricapi::ExplainRequest request,
                      Done<fabricapi::Explanation> done) {
  const Status permitted = permits(caller, Call::explain);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::Explanation>(
      done, [caller, request = std::move(request)](Steward& steward, const auto& on_done) {
        steward.explain(caller, request, on_done);
      });
}

void Service::health(const Caller& caller, Done<fabricapi::FabricHealth> done) {
  const Status permitted = permits(caller, Call::health);
  if (!permitted) return done(permitted.error());
  ask<fabricapi::FabricHealth>(
      done, [caller](Steward& steward, const auto& on_done) { steward.health(caller, on_done); });
}

}  // namespace ibpod::sm
