// Service: ibpod-sm's answers to its callers. It passes every request, and every event of the
// subnet manager and the prober, to the one thread that the controller runs on.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/api/authz.h"
#include "sm/controller/controller.h"
#include "sm/declared/declared.h"
#include "sm/service/task_queue.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ibpod::sm::service {

// The current time.
registry::Now system_time();

class Service final : public fabricapi::Fabric {
 public:
  using Caller = fabricapi::Caller;
  using Page = fabricapi::PageRequest;
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  template <typename Item>
  using Listed = fabricapi::ListPage<Item>;

  // `limits`: of calls that wait for the thread; more are refused (unavailable). A call that is
  // refused before it reaches the controller is audited here. `telemetry` outlives it.
  explicit Service(telemetry::Telemetry& telemetry, CallQueue::Limits limits = {})
      : telemetry_(telemetry), tasks_(limits) {}
  // stop().
  ~Service() override;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  Service(Service&&) = delete;
  Service& operator=(Service&&) = delete;

  // Starts to answer calls. Until stop(), only its thread may use `controller`.
  void start(controller::Controller& controller);
  // Completes the queued calls and takes no more. Calls that still wait for a state are answered
  // when the controller is destroyed. Not to be called from its own thread.
  void stop();

  // Events; also before start().
  void engine_changed();
  void probed(probe::ProbeBatch readings);
  void declared(declared::DeclaredPartitions declared);
  void declared_unreadable(std::string why);
  // Runs `work` on the thread, between ticks, however many calls wait: the caller limits how many
  // do so at a time. False if it cannot run before the deadline.
  bool run(const std::function<void(controller::Controller&)>& work, Deadline deadline);
  // The age of the current tick; 0 while the thread waits. From any thread, and returns at once.
  Duration time_in_tick() const;

  void create_partition(const Caller& caller, fabric::Partition partition,
                        Done<fabric::PartitionStatus> done) override;
  void update_partition(const Caller& caller, fabric::Partition partition,
                        Done<fabric::PartitionStatus> done) override;
  void delete_partition(const Caller& caller, std::string name,
                        Done<fabric::PartitionStatus> done) override;
  void forget_ports(const Caller& caller, std::string partition,
                    Done<fabric::PartitionStatus> done) override;
  void list_partitions(const Caller& caller, Page page,
                       Done<Listed<fabric::PartitionStatus>> done) override;
  void bind(const Caller& caller, fabricapi::BindRequest request, fabricapi::CallContext context,
            Done<fabric::Binding> done) override;
  void unbind(const Caller& caller, fabric::Attachment attachment, Deadline deadline,
              Done<fabric::Binding> done) override;
  void get_binding(const Caller& caller, fabric::Attachment attachment,
                   Done<fabric::Binding> done) override;
  void list_bindings(const Caller& caller, fabricapi::BindingFilter filter, Page page,
                     Done<Listed<fabric::Binding>> done) override;
  void watch_bindings(const Caller& caller, fabricapi::BindingFilter filter,
                      std::function<bool(const fabricapi::BindingChange&)> on_change,
                      Done<std::shared_ptr<Watch>> done) override;
  void sync(const Caller& caller, fabricapi::SyncRequest request,
            Done<fabricapi::SyncAnswer> done) override;
  void observe(const Caller& caller, fabricapi::ObserveRequest request,
               Done<fabricapi::ObserveAnswer> done) override;
  void allocate_guids(const Caller& caller, fabricapi::AllocateRequest request,
                      Done<std::vector<fabricapi::AllocatedGuid>> done) override;
  void list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done) override;
  void forget_node(const Caller& caller, fabricapi::ForgetRequest request, Deadline deadline,
                   Done<fabricapi::Node> done) override;
  void plan(const Caller& caller, fabricapi::PlanRequest request,
            Done<fabricapi::Plan> done) override;
  void explain(const Caller& caller, fabricapi::ExplainRequest request,
               Done<fabricapi::Explanation> done) override;
  void health(const Caller& caller, Done<fabricapi::FabricHealth> done) override;

 private:
  // The caller and its call; `subject` is for the audit log, `node` for authorization.
  struct CallInfo {
    const Caller& caller;
    api::Call call;
    std::string subject = {};
    std::string node = {};
  };
  static CallQueue::Share share_of(const CallInfo& asked);
  template <typename Value, typename Answer, typename... Args>
  void dispatch(const CallInfo& asked, const Done<Value>& done, Answer answer, Args&&... args);
  void tick(std::optional<std::vector<TaskQueue::Task>> tasks);
  void run_tasks();

  telemetry::Telemetry& telemetry_;
  TaskQueue tasks_;
  std::atomic<Deadline::Clock::rep> tick_began_{0};  // 0: it waits
  controller::Controller* controller_ = nullptr;
  std::thread thread_;
};

}  // namespace ibpod::sm::service
