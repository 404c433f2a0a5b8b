// A service that has what is put into it, in memory; lists come by pages of two.
#pragma once

#include "ctl/service.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::ctl::test {

// The state that outlives a connection.
struct State {
  std::map<std::string, fabric::PartitionStatus> partitions;
  std::vector<fabric::Binding> bindings;
  v1::ListNodesResponse nodes;
  v1::PlanResponse plan;
  fabricapi::Explanation explanation;
  v1::FabricHealthResponse health;
  std::optional<fabricapi::PlanRequest> planned;
  std::vector<std::string> explained;
  std::vector<std::string> forgotten;  // partitions whose ports were not waited for
  std::optional<Error> refusal;        // of every call
  bool has_pods = true;                // whatever is to be explained is there
  bool endless = false;                // every page has another one behind it
  bool slow = false;                   // what is released is not so by the deadline
};

template <typename Item>
fabricapi::ListPage<Item> page_of(const std::vector<Item>& items, const std::string& token,
                                  bool endless) {
  constexpr size_t kSize = 2;
  const size_t begin = token.empty() ? 0 : std::stoul(token);
  const size_t end = std::min(begin + kSize, items.size());
  fabricapi::ListPage<Item> listed;
  for (size_t i = begin; i < end; ++i) listed.items.push_back(items[i]);
  if (end < items.size()) listed.next = std::to_string(end);
  if (endless) listed.next = "0";
  return listed;
}

// The health of a service with one finding.
inline v1::FabricHealthResponse health(const std::string& subject, const std::string& text,
                                       const std::string& remedy) {
  v1::FabricHealthResponse made;
  v1::FabricHealthResponse::Finding& finding = *made.add_findings();
  finding.set_subject(subject);
  finding.set_text(text);
  finding.set_remedy(remedy);
  made.set_engine("opensm: serving");
  return made;
}

class StateService final : public Service {
 public:
  explicit StateService(State& state) : state_(state) {}

  Result<fabric::PartitionStatus> create_partition(const fabric::Partition& partition,
                                                   Deadline) override {
    if (state_.refusal) return *state_.refusal;
    if (state_.partitions.contains(partition.name))
      return Error(Code::exists, "there is a partition " + partition.name);
    fabric::PartitionStatus made;
    made.spec = partition;
    if (!made.spec.pkey) made.spec.pkey = ib::PKey(0x0100);
    return state_.partitions[partition.name] = made;
  }
  Result<fabric::PartitionStatus> update_partition(const fabric::Partition& partition,
                                                   Deadline) override {
    if (state_.refusal) return *state_.refusal;
    state_.partitions.at(partition.name).spec = partition;
    return state_.partitions.at(partition.name);
  }
  Result<fabric::PartitionStatus> delete_partition(const std::string& name, Deadline) override {
    if (state_.refusal) return *state_.refusal;
    const auto found = state_.partitions.find(name);
    if (found == state_.partitions.end())
      return Error(Code::not_found, "there is no partition " + name);
    fabric::PartitionStatus gone = found->second;
    gone.state = fabric::PartitionState::deleting;
    gone.condition = {fabric::Reason::waiting, "the subnet manager has not swept without it yet"};
    state_.partitions.erase(found);
    return gone;
  }
  Result<fabric::PartitionStatus> forget_ports(const std::string& name,
                                               Deadline deadline) override {
    fabric::PartitionStatus gone = TRY(delete_partition(name, deadline));
    state_.forgotten.push_back(name);
    gone.condition = {};
    return gone;
  }
  Result<fabricapi::ListPage<fabric::PartitionStatus>> list_partitions(
      const fabricapi::PageRequest& page, Deadline) override {
    if (state_.refusal) return *state_.refusal;
    std::vector<fabric::PartitionStatus> all;
    for (const auto& [name, partition] : state_.partitions) all.push_back(partition);
    return page_of(all, page.token, state_.endless);
  }

  Result<fabric::Binding> get_binding(const fabric::Attachment& attachment, Deadline) override {
    if (state_.refusal) return *state_.refusal;
    for (const fabric::Binding& binding : state_.bindings)
      if (binding.attachment == attachment) return binding;
    return Error(Code::not_found, "there is no such binding");
  }
  Result<fabric::Binding> unbind(const fabric::Attachment& attachment, Deadline) override {
    auto found = get_binding(attachment, Deadline::in(Duration(0)));
    // For a node one that there is not has been released already.
    if (!found && found.error().code() == Code::not_found) found = fabric::Binding{};
    fabric::Binding binding = TRY(std::move(found));
    binding.attachment = attachment;
    binding.state = state_.slow ? fabric::BindingState::releasing : fabric::BindingState::released;
    return binding;
  }
  Result<fabricapi::ListPage<fabric::Binding>> list_bindings(const fabricapi::BindingFilter& filter,
                                                             const fabricapi::PageRequest& page,
                                                             Deadline) override {
    if (state_.refusal) return *state_.refusal;
    std::vector<fabric::Binding> matching;
    for (const fabric::Binding& binding : state_.bindings)
      if (matches(filter, binding)) matching.push_back(binding);
    return page_of(matching, page.token, state_.endless);
  }

  Result<v1::ListNodesResponse> list_nodes(Deadline) override {
    if (state_.refusal) return *state_.refusal;
    return state_.nodes;
  }
  Result<v1::FabricNode> forget_node(const fabricapi::ForgetRequest& request, Deadline) override {
    if (state_.refusal) return *state_.refusal;
    for (v1::FabricNode node : state_.nodes.nodes()) {
      if (node.name() != request.node) continue;
      if (node.has_last_sync() && !request.force)
        return Error(Code::busy, "node " + node.name() + " is alive");
      node.set_forgetting(true);
      if (!state_.slow) {
        node.clear_bindings();
        node.clear_guids();
      }
      return node;
    }
    return Error(Code::not_found, "there is no node " + request.node);
  }

  Result<v1::PlanResponse> plan(const fabricapi::PlanRequest& request, Deadline) override {
    if (state_.refusal) return *state_.refusal;
    if (!request.without.empty() && !state_.partitions.contains(request.without))
      return Error(Code::not_found, "there is no partition " + request.without);
    state_.planned = request;
    return state_.plan;
  }
  Result<fabricapi::Explanation> explain(const fabricapi::ExplainRequest& request,
                                         Deadline) override {
    if (state_.refusal) return *state_.refusal;
    state_.explained = request.subjects;
    if (!state_.has_pods) return Error(Code::not_found, "no binding of a pod of this name");
    return state_.explanation;
  }
  Result<v1::FabricHealthResponse> health(Deadline) override {
    if (state_.refusal) return *state_.refusal;
    return state_.health;
  }

 private:
  State& state_;
};

}  // namespace ibpod::ctl::test
