#include "sm/api/agent_names.h"

#include "lib/fabric/cluster_names.h"

namespace ibpod::sm::api {
namespace {

void add(std::string_view cluster, std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos)
    name = fabric::with_cluster(cluster, name);
}

void remove(std::string_view cluster, std::string& name) {
  if (!cluster.empty() && fabric::cluster_of(name) == cluster)
    name = std::string(fabric::name_in_cluster(name));
}

}  // namespace

std::string_view cluster_of_names(const fabricapi::Caller& caller) {
  if (caller.role != fabricapi::Role::node) return {};
  return fabric::cluster_of(caller.node);
}

void add_cluster(std::string_view cluster, fabric::Attachment& attachment) {
  add(cluster, attachment.node);
}

void add_cluster(std::string_view cluster, fabricapi::BindRequest& request) {
  add(cluster, request.attachment.node);
  add(cluster, request.pod.name_space);
}

void add_cluster(std::string_view cluster, fabricapi::BindingFilter& filter) {
  add(cluster, filter.node);
  add(cluster, filter.name_space);
}

void add_cluster(std::string_view cluster, fabricapi::SyncRequest& request) {
  add(cluster, request.node);
}

void add_cluster(std::string_view cluster, fabricapi::ObserveRequest& request) {
  add(cluster, request.node);
}

void add_cluster(std::string_view cluster, fabricapi::AllocateRequest& request) {
  add(cluster, request.node);
}

void remove_cluster(std::string_view cluster, fabric::Binding& binding) {
  remove(cluster, binding.attachment.node);
  remove(cluster, binding.pod.name_space);
}

void remove_cluster(std::string_view cluster, fabricapi::ListPage<fabric::Binding>& listed) {
  for (fabric::Binding& binding : listed.items) remove_cluster(cluster, binding);
}

void remove_cluster(std::string_view cluster, fabricapi::SyncAnswer& answer) {
  for (fabric::Binding& binding : answer.bindings) remove_cluster(cluster, binding);
  for (fabric::Binding& binding : answer.not_named) remove_cluster(cluster, binding);
}

}  // namespace ibpod::sm::api
