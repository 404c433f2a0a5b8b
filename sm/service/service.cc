#include "sm/service/service.h"

#include "lib/fabricapi/account.h"
#include "sm/registry/names.h"

#include <condition_variable>
#include <mutex>
#include <tuple>

namespace ibpod::sm::service {
namespace {

// The limit for taking calls in one tick; the last call is completed.
constexpr Duration kLongestTurn{20};

}  // namespace

registry::Now system_time() {
  return {std::chrono::steady_clock::now(),
          std::chrono::floor<Duration>(std::chrono::system_clock::now())};
}

Service::~Service() { stop(); }

void Service::start(controller::Controller& controller) {
  controller_ = &controller;
  thread_ = std::thread([this] { run_tasks(); });
}

void Service::stop() {
  tasks_.stop();
  if (thread_.joinable()) thread_.join();
}

// Waiting calls share one commit to disk, up to a time limit: a caller with few calls must not wait
// for a tick that others make long.
void Service::tick(std::optional<std::vector<TaskQueue::Task>> tasks) {
  const Deadline::Clock::time_point began = Deadline::Clock::now();
  tick_began_ = began.time_since_epoch().count();
  do {
    controller_->set_time(system_time());
    for (const TaskQueue::Task& task : *tasks) task();
    if (Deadline::Clock::now() - began >= kLongestTurn) break;
    tasks = tasks_.take(began);
  } while (tasks && !tasks->empty());
  controller_->tick();
  tick_began_ = 0;
}

void Service::run_tasks() {
  tick(std::vector<TaskQueue::Task>());
  while (auto tasks = tasks_.take(controller_->due())) tick(std::move(tasks));
}

Duration Service::time_in_tick() const {
  const Deadline::Clock::rep began = tick_began_;
  if (began == 0) return Duration(0);
  const Deadline::Clock::time_point since{Deadline::Clock::duration(began)};
  return std::chrono::duration_cast<Duration>(Deadline::Clock::now() - since);
}

CallQueue::Share Service::share_of(const CallInfo& asked) {
  if (asked.caller.role == fabricapi::Role::administrator) return CallQueue::Share::administrator;
  const bool ends = asked.call == api::Call::unbind || asked.call == api::Call::sync;
  return ends ? CallQueue::Share::reserved : CallQueue::Share::ordinary;
}

void Service::engine_changed() {
  tasks_.post([this] { controller_->engine_changed(); });
}

void Service::probed(probe::ProbeBatch readings) {
  tasks_.post([this, readings = std::move(readings)] { controller_->probed(readings); });
}

void Service::declared(declared::DeclaredPartitions declared) {
  tasks_.post([this, declared = std::move(declared)] { controller_->declare(declared); });
}

void Service::declared_unreadable(std::string why) {
  tasks_.post([this, why = std::move(why)] { controller_->declared_unreadable(why); });
}

bool Service::run(const std::function<void(controller::Controller&)>& work, Deadline deadline) {
  // Work that still waits when the caller has given up must not run.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void(controller::Controller&)>* work;
    bool done = false;
  };
  const auto shared = std::make_shared<Shared>();
  shared->work = &work;
  tasks_.post([this, shared] {
    const std::lock_guard lock(shared->mutex);
    if (shared->work == nullptr) return;
    (*shared->work)(*controller_);
    shared->done = true;
    shared->changed.notify_one();
  });
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_until(lock, deadline.time(), [&] { return shared->done; });
  shared->work = nullptr;
  return shared->done;
}

// If the caller is authorized, the controller answers with its function `answer`.
template <typename Value, typename Answer, typename... Args>
void Service::dispatch(const CallInfo& asked, const Done<Value>& done, Answer answer,
                       Args&&... args) {
  const auto refuse = [&](const Error& refusal) {
    const std::string_view what = api::action(asked.call);
    if (!what.empty()) telemetry_.audit(asked.caller, what, asked.subject, refusal);
    done(refusal);
  };
  const Status permitted = api::authorize(asked.caller, asked.call, asked.node);
  if (!permitted) return refuse(permitted.error());
  const Status waits = tasks_.try_post(
      account_of(asked.caller), share_of(asked),
      [this, caller = asked.caller, done, answer,
       kept = std::make_tuple(std::forward<Args>(args)...)] {
        std::apply([&](const auto&... each) { (controller_->*answer)(caller, each..., done); },
                   kept);
      });
  if (!waits) refuse(waits.error());
}

void Service::create_partition(const Caller& caller, fabric::Partition partition,
                               Done<fabric::PartitionStatus> done) {
  dispatch({caller, api::Call::create_partition, partition.name}, done,
           &controller::Controller::create_partition, std::move(partition));
}

void Service::update_partition(const Caller& caller, fabric::Partition partition,
                               Done<fabric::PartitionStatus> done) {
  dispatch({caller, api::Call::update_partition, partition.name}, done,
           &controller::Controller::update_partition, std::move(partition));
}

void Service::delete_partition(const Caller& caller, std::string name,
                               Done<fabric::PartitionStatus> done) {
  dispatch({caller, api::Call::delete_partition, name}, done,
           &controller::Controller::delete_partition, std::move(name));
}

void Service::forget_ports(const Caller& caller, std::string partition,
                           Done<fabric::PartitionStatus> done) {
  dispatch({caller, api::Call::delete_partition, partition}, done,
           &controller::Controller::forget_ports, std::move(partition));
}

void Service::list_partitions(const Caller& caller, Page page,
                              Done<Listed<fabric::PartitionStatus>> done) {
  dispatch({caller, api::Call::list_partitions}, done, &controller::Controller::list_partitions,
           std::move(page));
}

void Service::bind(const Caller& caller, fabricapi::BindRequest request,
                   fabricapi::CallContext context, Done<fabric::Binding> done) {
  dispatch({caller, api::Call::bind, registry::text(request.attachment), request.attachment.node},
           done, &controller::Controller::bind, std::move(request), std::move(context));
}

void Service::unbind(const Caller& caller, fabric::Attachment attachment, Deadline deadline,
                     Done<fabric::Binding> done) {
  dispatch({caller, api::Call::unbind, registry::text(attachment), attachment.node}, done,
           &controller::Controller::unbind, std::move(attachment), deadline);
}

void Service::get_binding(const Caller& caller, fabric::Attachment attachment,
                          Done<fabric::Binding> done) {
  dispatch({caller, api::Call::get_binding, registry::text(attachment), attachment.node}, done,
           &controller::Controller::get_binding, std::move(attachment));
}

void Service::list_bindings(const Caller& caller, fabricapi::BindingFilter filter, Page page,
                            Done<Listed<fabric::Binding>> done) {
  dispatch({caller, api::Call::list_bindings, {}, filter.node}, done,
           &controller::Controller::list_bindings, std::move(filter), std::move(page));
}

void Service::watch_bindings(const Caller& caller, fabricapi::BindingFilter filter,
                             std::function<bool(const fabricapi::BindingChange&)> on_change,
                             Done<std::shared_ptr<Watch>> done) {
  dispatch({caller, api::Call::watch_bindings, {}, filter.node}, done,
           &controller::Controller::watch_bindings, std::move(filter), std::move(on_change));
}

void Service::sync(const Caller& caller, fabricapi::SyncRequest request,
                   Done<fabricapi::SyncAnswer> done) {
  dispatch({caller, api::Call::sync, request.node, request.node}, done,
           &controller::Controller::sync, std::move(request));
}

void Service::observe(const Caller& caller, fabricapi::ObserveRequest request,
                      Done<fabricapi::ObserveAnswer> done) {
  dispatch({caller, api::Call::observe, request.node, request.node}, done,
           &controller::Controller::observe, std::move(request));
}

void Service::allocate_guids(const Caller& caller, fabricapi::AllocateRequest request,
                             Done<std::vector<fabricapi::AllocatedGuid>> done) {
  dispatch({caller, api::Call::allocate_guids, request.node + "/" + request.pf, request.node},
           done, &controller::Controller::allocate_guids, std::move(request));
}

void Service::list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done) {
  dispatch({caller, api::Call::list_nodes}, done, &controller::Controller::list_nodes);
}

void Service::forget_node(const Caller& caller, fabricapi::ForgetRequest request, Deadline deadline,
                          Done<fabricapi::Node> done) {
  dispatch({caller, api::Call::forget_node, request.node}, done,
           &controller::Controller::forget_node, std::move(request), deadline);
}

void Service::plan(const Caller& caller, fabricapi::PlanRequest request,
                   Done<fabricapi::Plan> done) {
  dispatch({caller, api::Call::plan}, done, &controller::Controller::plan, std::move(request));
}

void Service::explain(const Caller& caller, fabricapi::ExplainRequest request,
                      Done<fabricapi::Explanation> done) {
  dispatch({caller, api::Call::explain}, done, &controller::Controller::explain,
           std::move(request));
}

void Service::health(const Caller& caller, Done<fabricapi::FabricHealth> done) {
  dispatch({caller, api::Call::health}, done, &controller::Controller::health);
}

}  // namespace ibpod::sm::service
