// add_cluster(), remove_cluster(): agents write and read names of nodes and namespaces without
// their cluster, which their token proves; behind CallGate every name has it
// (lib/fabric/cluster_names.h).
#pragma once

#include "lib/fabricapi/messages.h"

#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::api {

// The cluster of the names that the caller writes and reads: of a node its own; empty for the
// default one, and for callers who are no node, as they write whole names.
std::string_view cluster_of_names(const fabricapi::Caller& caller);

// For a request. A name that has a cluster already stays as it is, and then is hardly the caller's
// (authorize()).
void add_cluster(std::string_view cluster, fabric::Attachment& attachment);
void add_cluster(std::string_view cluster, fabricapi::BindRequest& request);
void add_cluster(std::string_view cluster, fabricapi::BindingFilter& filter);
void add_cluster(std::string_view cluster, fabricapi::SyncRequest& request);
void add_cluster(std::string_view cluster, fabricapi::ObserveRequest& request);
void add_cluster(std::string_view cluster, fabricapi::AllocateRequest& request);
// These are not for nodes.
inline void add_cluster(std::string_view, fabric::Partition&) {}
inline void add_cluster(std::string_view, std::string&) {}
inline void add_cluster(std::string_view, fabricapi::ForgetRequest&) {}
inline void add_cluster(std::string_view, fabricapi::PageRequest&) {}
inline void add_cluster(std::string_view, fabricapi::PlanRequest&) {}
inline void add_cluster(std::string_view, fabricapi::ExplainRequest&) {}
inline void add_cluster(std::string_view, Unit&) {}

// For an answer. The name of another cluster stays whole.
void remove_cluster(std::string_view cluster, fabric::Binding& binding);
void remove_cluster(std::string_view cluster, fabricapi::ListPage<fabric::Binding>& listed);
void remove_cluster(std::string_view cluster, fabricapi::SyncAnswer& answer);
// These have no such names, or are not for nodes.
inline void remove_cluster(std::string_view, v1::ObserveResponse&) {}
inline void remove_cluster(std::string_view, std::vector<fabricapi::AllocatedGuid>&) {}
inline void remove_cluster(std::string_view, fabric::PartitionStatus&) {}
inline void remove_cluster(std::string_view, fabricapi::ListPage<fabric::PartitionStatus>&) {}
inline void remove_cluster(std::string_view, v1::FabricNode&) {}
inline void remove_cluster(std::string_view, v1::ListNodesResponse&) {}
inline void remove_cluster(std::string_view, v1::PlanResponse&) {}
inline void remove_cluster(std::string_view, fabricapi::Explanation&) {}
inline void remove_cluster(std::string_view, v1::FabricHealthResponse&) {}

}  // namespace ibpod::sm::api
