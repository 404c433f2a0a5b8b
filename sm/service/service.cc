#include "sm/service/service.h"

#include "lib/fabricapi/account.h"
#include "sm/registry/names.h"

#include <condition_variable>
#include <mutex>
#include <tuple>

namespace ibpod::sm {
namespace {

// Of taking calls; what is asked last is done to its end.
constexpr Duration kLongestTurn{20};

}  // namespace

Now present() {
  return {std::chrono::steady_clock::now(),
          std::chrono::floor<Duration>(std::chrono::system_clock::now())};
}

Service::~Service() { stop(); }

void Service::start(Steward& steward) {
  steward_ = &steward;
  thread_ = std::thread([this] { work_off(); });
}

void Service::stop() {
  errands_.stop();
  if (thread_.joinable()) thread_.join();
}

// What waits goes to the disk together, as long as it is done soon: who has asked a little waits
// for no turn that others make long.
void Service::turn(std::optional<std::vector<Errands::Errand>> errands) {
  const Deadline::Clock::time_point began = Deadline::Clock::now();
  turn_began_ = began.time_since_epoch().count();
  do {
    steward_->at(present());
    for (const Errands::Errand& errand : *errands) errand();
    if (Deadline::Clock::now() - began >= kLongestTurn) break;
    errands = errands_.take(began);
  } while (errands && !errands->empty());
  steward_->turn();
  turn_began_ = 0;
}

void Service::work_off() {
  turn(std::vector<Errands::Errand>());
  while (auto errands = errands_.take(steward_->due())) turn(std::move(errands));
}

Duration Service::in_turn() const {
  const Deadline::Clock::rep began = turn_began_;
  if (began == 0) return Duration(0);
  const Deadline::Clock::time_point since{Deadline::Clock::duration(began)};
  return std::chrono::duration_cast<Duration>(Deadline::Clock::now() - since);
}

CallQueue::Share Service::share_of(const Asked& asked) {
  if (asked.caller.role == fabricapi::Role::administrator) return CallQueue::Share::administrator;
  const bool ends = asked.call == Call::unbind || asked.call == Call::sync;
  return ends ? CallQueue::Share::reserved : CallQueue::Share::ordinary;
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

void Service::declared_unreadable(std::string why) {
  errands_.tell([this, why = std::move(why)] { steward_->declared_unreadable(why); });
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
  errands_.tell([this, shared] {
    const std::lock_guard lock(shared->mutex);
    if (shared->work == nullptr) return;
    (*shared->work)(*steward_);
    shared->done = true;
    shared->changed.notify_one();
  });
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_until(lock, deadline.time(), [&] { return shared->done; });
  shared->work = nullptr;
  return shared->done;
}

// Has the steward answer, by `answer`, what the caller may ask.
template <typename Value, typename Answer, typename... Args>
void Service::pass(const Asked& asked, const Done<Value>& done, Answer answer, Args&&... args) {
  const auto refuse = [&](const Error& refusal) {
    const std::string_view what = action(asked.call);
    if (!what.empty()) report_.audit(asked.caller, what, asked.subject, refusal);
    done(refusal);
  };
  const Status permitted = permits(asked.caller, asked.call, asked.node);
  if (!permitted) return refuse(permitted.error());
  const Status waits = errands_.ask(
      account_of(asked.caller), share_of(asked),
      [this, caller = asked.caller, done, answer,
       kept = std::make_tuple(std::forward<Args>(args)...)] {
        std::apply([&](const auto&... each) { (steward_->*answer)(caller, each..., done); }, kept);
      });
  if (!waits) refuse(waits.error());
}

void Service::create_partition(const Caller& caller, fabric::Tenancy tenancy,
                               Done<fabric::TenancyStatus> done) {
  pass({caller, Call::create_partition, tenancy.name}, done, &Steward::create_partition,
       std::move(tenancy));
}

void Service::update_partition(const Caller& caller, fabric::Tenancy tenancy,
                               Done<fabric::TenancyStatus> done) {
  pass({caller, Call::update_partition, tenancy.name}, done, &Steward::update_partition,
       std::move(tenancy));
}

void Service::delete_partition(const Caller& caller, std::string name,
                               Done<fabric::TenancyStatus> done) {
  pass({caller, Call::delete_partition, name}, done, &Steward::delete_partition, std::move(name));
}

void Service::forget_ports(const Caller& caller, std::string partition,
                           Done<fabric::TenancyStatus> done) {
  pass({caller, Call::delete_partition, partition}, done, &Steward::forget_ports,
       std::move(partition));
}

void Service::list_partitions(const Caller& caller, Page page,
                              Done<Listed<fabric::TenancyStatus>> done) {
  pass({caller, Call::list_partitions}, done, &Steward::list_partitions, std::move(page));
}

void Service::bind(const Caller& caller, fabricapi::BindRequest request,
                   fabricapi::Patience patience, Done<fabric::Binding> done) {
  pass({caller, Call::bind, text(request.attachment), request.attachment.node}, done,
       &Steward::bind, std::move(request), std::move(patience));
}

void Service::unbind(const Caller& caller, fabric::Attachment attachment, Deadline deadline,
                     Done<fabric::Binding> done) {
  pass({caller, Call::unbind, text(attachment), attachment.node}, done, &Steward::unbind,
       std::move(attachment), deadline);
}

void Service::get_binding(const Caller& caller, fabric::Attachment attachment,
                          Done<fabric::Binding> done) {
  pass({caller, Call::get_binding, text(attachment), attachment.node}, done, &Steward::get_binding,
       std::move(attachment));
}

void Service::list_bindings(const Caller& caller, fabricapi::BindingFilter filter, Page page,
                            Done<Listed<fabric::Binding>> done) {
  pass({caller, Call::list_bindings, {}, filter.node}, done, &Steward::list_bindings,
       std::move(filter), std::move(page));
}

void Service::watch_bindings(const Caller& caller, fabricapi::BindingFilter filter,
                             std::function<bool(const fabricapi::BindingChange&)> told,
                             Done<std::shared_ptr<Watch>> done) {
  pass({caller, Call::watch_bindings, {}, filter.node}, done, &Steward::watch_bindings,
       std::move(filter), std::move(told));
}

void Service::sync(const Caller& caller, fabricapi::SyncRequest request,
                   Done<fabricapi::SyncAnswer> done) {
  pass({caller, Call::sync, request.node, request.node}, done, &Steward::sync, std::move(request));
}

void Service::observe(const Caller& caller, fabricapi::ObserveRequest request,
                      Done<fabricapi::ObserveAnswer> done) {
  pass({caller, Call::observe, request.node, request.node}, done, &Steward::observe,
       std::move(request));
}

void Service::allocate_guids(const Caller& caller, fabricapi::AllocateRequest request,
                             Done<std::vector<fabricapi::Allocated>> done) {
  pass({caller, Call::allocate_guids, request.node + "/" + request.pf, request.node}, done,
       &Steward::allocate_guids, std::move(request));
}

void Service::list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done) {
  pass({caller, Call::list_nodes}, done, &Steward::list_nodes);
}

void Service::forget_node(const Caller& caller, fabricapi::ForgetRequest request, Deadline deadline,
                          Done<fabricapi::Node> done) {
  pass({caller, Call::forget_node, request.node}, done, &Steward::forget_node, std::move(request),
       deadline);
}

void Service::plan(const Caller& caller, fabricapi::PlanRequest request,
                   Done<fabricapi::Plan> done) {
  pass({caller, Call::plan}, done, &Steward::plan, std::move(request));
}

void Service::explain(const Caller& caller, fabricapi::ExplainRequest request,
                      Done<fabricapi::Explanation> done) {
  pass({caller, Call::explain}, done, &Steward::explain, std::move(request));
}

void Service::health(const Caller& caller, Done<fabricapi::FabricHealth> done) {
  pass({caller, Call::health}, done, &Steward::health);
}

}  // namespace ibpod::sm
