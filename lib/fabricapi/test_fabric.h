// A Fabric for tests: it keeps what it was asked and answers with fixed values, at once, later or
// never.
#pragma once

#include "lib/fabricapi/fabric.h"

#include <map>
#include <mutex>

namespace ibpod::fabricapi {

inline ib::Guid test_guid(uint64_t number = 1) { return ib::Guid(0x0200000000000000 + number); }

inline fabric::Attachment test_attachment() { return {"n7.example", "c1d2", "net1"}; }

inline fabric::Binding test_binding() {
  fabric::Binding binding;
  binding.attachment = test_attachment();
  binding.guid = test_guid();
  binding.guid_requested = true;
  binding.kind = fabric::Kind::child;
  binding.pf = "ib0";
  binding.pf_guid = test_guid(0xff);
  binding.device = "0000:3b:00.2";
  binding.pod = {"lab", "trainer-0", "6f1c-22"};
  binding.desired = {{"blue", fabric::Membership::full}, {"red", fabric::Membership::both}};
  binding.keys = {ib::PKey(0x8101), ib::PKey(0x8102)};
  binding.applied = {{"blue", fabric::Membership::full}};
  binding.generation = 7;
  binding.state = fabric::BindingState::written;
  binding.condition = {fabric::Reason::port_down, "the port is down: look at its cable"};
  binding.proof = fabric::Proof::node;
  binding.enforcement = fabric::Enforcement::leaf;
  binding.asked = fabric::WallTime(std::chrono::milliseconds(1'700'000'000'123));
  binding.changed = fabric::WallTime(std::chrono::milliseconds(1'700'000'000'456));
  return binding;
}

inline fabric::Partition test_partition() {
  fabric::Partition partition;
  partition.name = "blue";
  partition.pkey = ib::PKey(0x101);
  partition.membership = fabric::Membership::full;
  partition.index0 = true;
  partition.ipoib = true;
  partition.mtu = fabric::Mtu::mtu_4096;
  partition.rate = fabric::Rate(7);
  partition.sl = 3;
  partition.allowed = {"lab", "*"};
  partition.nodes = {"gpu-*", "n1"};
  partition.proof = fabric::Proof::port;
  partition.members = {{test_guid(9), fabric::Membership::limited, "nfs-1, Gebäude 4"}};
  return partition;
}

inline fabric::PartitionStatus test_status() {
  return {test_partition(),
          true,
          fabric::PartitionState::ready,
          {fabric::Reason::waiting, "for a sweep"},
          12};
}

inline BindRequest test_bind() {
  return {test_attachment(),
          test_guid(),
          true,
          fabric::Kind::vf,
          "ib0",
          test_guid(0xff),
          "0000:3b:00.2",
          {"lab", "trainer-0", ""},
          {{"blue", fabric::Membership::full}, {"red", std::nullopt}}};
}

inline BindingFilter test_filter() {
  return {"n7.example", "blue", "lab", "trainer-0", test_guid(), fabric::BindingState::unknown};
}

inline SyncRequest test_sync() {
  return {"n7.example",
          {{"c1", "net1"}, {"c2", "net2"}},
          {test_guid(6), ib::Guid(7)},
          {test_guid(8)},
          "5f2c7f04-9f1e"};
}
inline SyncAnswer test_sync_answer() {
  return {{test_binding()}, {{"c2", "net2"}}, {test_binding()}, Duration(90'000), {ib::Guid(7)}};
}

inline ObserveRequest test_observe() {
  return {"n7.example", "stamp-4", {{test_guid(), {ib::PKey(0xffff), ib::PKey(0), ib::PKey(1)}}}};
}
inline ObserveAnswer test_observe_answer() { return {"stamp-5", {test_guid(3)}}; }

inline AllocateRequest test_allocate() { return {"n7.example", "0000:3b:00.0", {0, 1, 7}}; }
inline std::vector<AllocatedGuid> test_allocated() {
  return {{0, test_guid(4)}, {7, test_guid(5)}};
}

inline std::vector<Node> test_nodes() {
  return {{"n7.example", fabric::WallTime(std::chrono::milliseconds(5)), 3, 4, false},
          {"n8", std::nullopt, 0, 0, true}};
}

inline PlanRequest test_plan() { return {test_partition(), "", true}; }
inline Plan test_plan_answer() {
  return {{{test_guid(), "node-7 mlx5_0", "0:0x7fff", "0:0x7fff 1:0x8101"}},
          2000,
          5,
          4000,
          1.5,
          {"OpenSM sweeps once"}};
}

inline ExplainRequest test_explain() { return {{"lab/trainer-0", test_guid().text()}}; }
inline Explanation test_explanation() {
  Explanation::Subject bound{"lab/trainer-0", test_guid(), test_binding(),
                             "node-7",        "0:0x7fff",  "0:0x7fff",
                             "0x7fff",        {},          {}};
  bound.seen = fabric::WallTime(std::chrono::milliseconds(77));
  bound.findings = {"the key is missing"};
  Explanation::Subject free{};
  free.name = "02:00:00:00:00:00:00:02";
  free.guid = test_guid(2);
  return {{bound, free}, {"blue: both are in it"}};
}

inline FabricHealth test_health() {
  return {{{"opensm", "runs on another file", "restart it"}}, "opensm: serving"};
}

class TestFabric : public Fabric {
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
  // From the next call on.
  void acts(Behavior behavior) {
    const std::lock_guard lock(mutex_);
    behavior_ = behavior;
  }
  void fails(const Error& error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
  }
  // How many calls have come.
  size_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Answers what it has kept.
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
  // Tells a watcher; false where there is none, or where it wants no more.
  bool tell(const BindingChange& change) {
    std::function<bool(const BindingChange&)> on_change;
    {
      const std::lock_guard lock(mutex_);
      on_change = on_change_;
    }
    return on_change && on_change(change);
  }
  // A watcher is told these when it begins.
  void has(std::vector<BindingChange> bindings) {
    const std::lock_guard lock(mutex_);
    there_ = std::move(bindings);
  }
  // How many of the watches that it gave are still there.
  long watches() const {
    const std::lock_guard lock(mutex_);
    return watch_.use_count();
  }

  void create_partition(const Caller& who, fabric::Partition asked,
                        Done<fabric::PartitionStatus> done) override {
    keep(who, last_requests_.partition, asked);
    answer(std::move(done), test_status());
  }
  void update_partition(const Caller& who, fabric::Partition asked,
                        Done<fabric::PartitionStatus> done) override {
    keep(who, last_requests_.partition, asked);
    answer(std::move(done), test_status());
  }
  void delete_partition(const Caller& who, std::string asked,
                        Done<fabric::PartitionStatus> done) override {
    keep(who, last_requests_.name, asked);
    answer(std::move(done), test_status());
  }
  void forget_ports(const Caller& who, std::string asked,
                    Done<fabric::PartitionStatus> done) override {
    keep(who, last_requests_.name, "forgetting " + asked);
    answer(std::move(done), test_status());
  }
  void list_partitions(const Caller& who, PageRequest asked,
                       Done<ListPage<fabric::PartitionStatus>> done) override {
    keep(who, last_requests_.page, asked);
    answer(std::move(done), ListPage<fabric::PartitionStatus>{{test_status()}, "next"});
  }
  void bind(const Caller& who, BindRequest asked, CallContext call_context,
            Done<fabric::Binding> done) override {
    keep(who, last_requests_.bound, asked);
    keep(who, last_requests_.left, call_context.deadline().left());
    keep(who, last_requests_.context, call_context);
    answer(std::move(done), test_binding());
  }
  void unbind(const Caller& who, fabric::Attachment asked, Deadline deadline,
              Done<fabric::Binding> done) override {
    keep(who, last_requests_.attachment, asked);
    keep(who, last_requests_.left, deadline.left());
    answer(std::move(done), test_binding());
  }
  void get_binding(const Caller& who, fabric::Attachment asked,
                   Done<fabric::Binding> done) override {
    keep(who, last_requests_.attachment, asked);
    answer(std::move(done), test_binding());
  }
  void list_bindings(const Caller& who, BindingFilter asked, PageRequest where,
                     Done<ListPage<fabric::Binding>> done) override {
    keep(who, last_requests_.filter, asked);
    keep(who, last_requests_.page, where);
    answer(std::move(done), ListPage<fabric::Binding>{{test_binding()}, "next"});
  }
  void watch_bindings(const Caller& who, BindingFilter asked,
                      std::function<bool(const BindingChange&)> on_change,
                      Done<std::shared_ptr<Watch>> done) override {
    keep(who, last_requests_.filter, asked);
    auto watch = std::make_shared<Watch>();
    std::vector<BindingChange> there;
    {
      const std::lock_guard lock(mutex_);
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
  void sync(const Caller& who, SyncRequest asked, Done<SyncAnswer> done) override {
    keep(who, last_requests_.synced, asked);
    answer(std::move(done), test_sync_answer());
  }
  void observe(const Caller& who, ObserveRequest asked, Done<ObserveAnswer> done) override {
    keep(who, last_requests_.observed, asked);
    answer(std::move(done), test_observe_answer());
  }
  void allocate_guids(const Caller& who, AllocateRequest asked,
                      Done<std::vector<AllocatedGuid>> done) override {
    keep(who, last_requests_.allocated, asked);
    answer(std::move(done), test_allocated());
  }
  void list_nodes(const Caller& who, Done<std::vector<Node>> done) override {
    keep(who, last_requests_.name, std::string());
    answer(std::move(done), test_nodes());
  }
  void forget_node(const Caller& who, ForgetRequest asked, Deadline deadline,
                   Done<Node> done) override {
    keep(who, last_requests_.forgotten, asked);
    keep(who, last_requests_.name, asked.node);
    keep(who, last_requests_.left, deadline.left());
    answer(std::move(done), test_nodes().front());
  }
  void plan(const Caller& who, PlanRequest asked, Done<Plan> done) override {
    keep(who, last_requests_.planned, asked);
    answer(std::move(done), test_plan_answer());
  }
  void explain(const Caller& who, ExplainRequest asked, Done<Explanation> done) override {
    keep(who, last_requests_.explained, asked);
    answer(std::move(done), test_explanation());
  }
  void health(const Caller& who, Done<FabricHealth> done) override {
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
  Behavior behavior_ = Behavior::answers;
  size_t calls_ = 0;
  std::vector<std::function<void()>> kept_;
  std::function<bool(const BindingChange&)> on_change_;
  std::vector<BindingChange> there_;
  std::weak_ptr<Watch> watch_;
};

}  // namespace ibpod::fabricapi
