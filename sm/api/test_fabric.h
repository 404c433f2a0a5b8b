// TestFabric: replaces the controller in tests. It keeps the requests and answers with fixed
// values, at once, later or never.
#pragma once

#include "lib/fabric/cluster_names.h"
#include "lib/fabricapi/test_values.h"

#include <map>
#include <mutex>

namespace ibpod::sm::api {

using namespace fabricapi;  // its values, and those of test_values.h

class TestFabric {
 public:
  enum class Behavior { answers, keeps, drops };

  struct LastRequests {
    Caller caller;
    fabric::Partition partition;
    std::string name;
    ForgetRequest forgotten;
    PageRequest page;
    BindRequest bound;
    fabric::Attachment attachment;
    BindingFilter filter;
    SyncRequest synced;
    ObserveRequest observed;
    AllocateRequest allocated;
    PlanRequest planned;
    ExplainRequest explained;
    Duration left{0};
    CallContext context = Deadline::in(Duration(0));
  };
  // The last request of each kind.
  LastRequests last_requests() const {
    const std::lock_guard lock(mutex_);
    return last_requests_;
  }
  // Takes effect from the next call on.
  void acts(Behavior behavior) {
    const std::lock_guard lock(mutex_);
    behavior_ = behavior;
  }
  void fails(const Error& error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
  }
  // The cluster of the names in the bindings that it answers with.
  void serves_cluster(const std::string& cluster) {
    const std::lock_guard lock(mutex_);
    cluster_ = cluster;
  }
  fabric::Binding binding() const {
    const std::lock_guard lock(mutex_);
    fabric::Binding binding = test_binding();
    binding.attachment.node = fabric::with_cluster(cluster_, binding.attachment.node);
    binding.pod.name_space = fabric::with_cluster(cluster_, binding.pod.name_space);
    return binding;
  }
  // The number of calls so far.
  size_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Answers the calls that it has kept.
  void release() {
    std::vector<std::function<void()>> kept;
    {
      const std::lock_guard lock(mutex_);
      std::swap(kept, kept_);
    }
    for (const std::function<void()>& answer : kept) answer();
  }
  size_t kept() const {
    const std::lock_guard lock(mutex_);
    return kept_.size();
  }
  // Sends a change to the watcher; false if there is none, or if the watch has ended.
  bool tell(const BindingChange& change) {
    std::function<bool(const BindingChange&)> on_change;
    {
      const std::lock_guard lock(mutex_);
      on_change = on_change_;
    }
    return on_change && on_change(change);
  }
  // The bindings that a new watcher gets first.
  void has(std::vector<BindingChange> bindings) {
    const std::lock_guard lock(mutex_);
    there_ = std::move(bindings);
  }
  // The number of watches that were begun.
  size_t begun_watches() const {
    const std::lock_guard lock(mutex_);
    return begun_watches_;
  }
  // The number of its watches that still exist.
  long watches() const {
    const std::lock_guard lock(mutex_);
    return watch_.use_count();
  }

  void create_partition(const Caller& who, fabric::Partition asked,
                        Done<fabric::PartitionStatus> done) {
    keep(who, last_requests_.partition, asked);
    answer(std::move(done), test_status());
  }
  void update_partition(const Caller& who, fabric::Partition asked,
                        Done<fabric::PartitionStatus> done) {
    keep(who, last_requests_.partition, asked);
    answer(std::move(done), test_status());
  }
  void delete_partition(const Caller& who, std::string asked, Done<fabric::PartitionStatus> done) {
    keep(who, last_requests_.name, asked);
    answer(std::move(done), test_status());
  }
  void forget_ports(const Caller& who, std::string asked, Done<fabric::PartitionStatus> done) {
    keep(who, last_requests_.name, "forgetting " + asked);
    answer(std::move(done), test_status());
  }
  void list_partitions(const Caller& who, PageRequest asked,
                       Done<ListPage<fabric::PartitionStatus>> done) {
    keep(who, last_requests_.page, asked);
    answer(std::move(done), ListPage<fabric::PartitionStatus>{{test_status()}, "next"});
  }
  void bind(const Caller& who, BindRequest asked, CallContext call_context,
            Done<fabric::Binding> done) {
    keep(who, last_requests_.bound, asked);
    keep(who, last_requests_.left, call_context.deadline().left());
    keep(who, last_requests_.context, call_context);
    answer(std::move(done), binding());
  }
  void unbind(const Caller& who, fabric::Attachment asked, Deadline deadline,
              Done<fabric::Binding> done) {
    keep(who, last_requests_.attachment, asked);
    keep(who, last_requests_.left, deadline.left());
    answer(std::move(done), binding());
  }
  void get_binding(const Caller& who, fabric::Attachment asked, Done<fabric::Binding> done) {
    keep(who, last_requests_.attachment, asked);
    answer(std::move(done), binding());
  }
  void list_bindings(const Caller& who, BindingFilter asked, PageRequest where,
                     Done<ListPage<fabric::Binding>> done) {
    keep(who, last_requests_.filter, asked);
    keep(who, last_requests_.page, where);
    answer(std::move(done), ListPage<fabric::Binding>{{binding()}, "next"});
  }
  void watch_bindings(const Caller& who, BindingFilter asked,
                      std::function<bool(const BindingChange&)> on_change,
                      Done<std::shared_ptr<Watch>> done) {
    keep(who, last_requests_.filter, asked);
    auto watch = std::make_shared<Watch>();
    std::vector<BindingChange> there;
    {
      const std::lock_guard lock(mutex_);
      ++begun_watches_;
      there = there_;
    }
    for (const BindingChange& one : there)
      if (!on_change(one)) return done(Error(Code::unavailable, "it wants no more"));
    {
      const std::lock_guard lock(mutex_);
      on_change_ = std::move(on_change);
      watch_ = watch;
    }
    answer(std::move(done), std::move(watch));
  }
  void sync(const Caller& who, SyncRequest asked, Done<SyncAnswer> done) {
    keep(who, last_requests_.synced, asked);
    SyncAnswer synced = test_sync_answer();
    synced.bindings = synced.not_named = {binding()};
    answer(std::move(done), std::move(synced));
  }
  void observe(const Caller& who, ObserveRequest asked, Done<v1::ObserveResponse> done) {
    keep(who, last_requests_.observed, asked);
    answer(std::move(done), test_observe_answer());
  }
  void allocate_guids(const Caller& who, AllocateRequest asked,
                      Done<std::vector<AllocatedGuid>> done) {
    keep(who, last_requests_.allocated, asked);
    answer(std::move(done), test_allocated());
  }
  void list_nodes(const Caller& who, Done<v1::ListNodesResponse> done) {
    keep(who, last_requests_.name, std::string());
    answer(std::move(done), test_nodes());
  }
  void forget_node(const Caller& who, ForgetRequest asked, Deadline deadline,
                   Done<v1::FabricNode> done) {
    keep(who, last_requests_.forgotten, asked);
    keep(who, last_requests_.name, asked.node);
    keep(who, last_requests_.left, deadline.left());
    answer(std::move(done), test_nodes().nodes(0));
  }
  void plan(const Caller& who, PlanRequest asked, Done<v1::PlanResponse> done) {
    keep(who, last_requests_.planned, asked);
    answer(std::move(done), test_plan_answer());
  }
  void explain(const Caller& who, ExplainRequest asked, Done<Explanation> done) {
    keep(who, last_requests_.explained, asked);
    answer(std::move(done), test_explanation());
  }
  void health(const Caller& who, Done<v1::FabricHealthResponse> done) {
    keep(who, last_requests_.name, std::string());
    answer(std::move(done), test_health());
  }

 private:
  template <typename Value>
  void keep(const Caller& who, Value& place, const Value& asked) {
    const std::lock_guard lock(mutex_);
    last_requests_.caller = who;
    place = asked;
  }
  template <typename Value>
  void answer(Done<Value> done, Value value) {
    Result<Value> result(std::move(value));
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
      if (error_) result = Error(*error_);
      if (behavior_ == Behavior::drops) return;
      if (behavior_ == Behavior::keeps)
        return kept_.push_back([done = std::move(done), result] { done(result); });
    }
    done(std::move(result));
  }

  mutable std::mutex mutex_;
  LastRequests last_requests_;
  std::optional<Error> error_;
  std::string cluster_;
  Behavior behavior_ = Behavior::answers;
  size_t calls_ = 0;
  std::vector<std::function<void()>> kept_;
  std::function<bool(const BindingChange&)> on_change_;
  std::vector<BindingChange> there_;
  std::weak_ptr<Watch> watch_;
  size_t begun_watches_ = 0;
};

}  // namespace ibpod::sm::api
