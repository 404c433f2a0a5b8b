// Service: the cluster's SM service as ibpodctl asks it, one call after the other
// (api/ibpod/v1/fabric.proto, whose rules hold).
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/base/clock.h"
#include "lib/fabricapi/calls.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

class Service {
 public:
  virtual ~Service() = default;

  virtual Result<fabric::PartitionStatus> create_partition(const fabric::Partition& partition,
                                                           Deadline deadline) = 0;
  virtual Result<fabric::PartitionStatus> update_partition(const fabric::Partition& partition,
                                                           Deadline deadline) = 0;
  virtual Result<fabric::PartitionStatus> delete_partition(const std::string& name,
                                                           Deadline deadline) = 0;
  // Deletes it without waiting for former members that cannot be asked.
  virtual Result<fabric::PartitionStatus> forget_ports(const std::string& partition,
                                                       Deadline deadline) = 0;
  virtual Result<fabricapi::ListPage<fabric::PartitionStatus>> list_partitions(
      const fabricapi::PageRequest& page, Deadline deadline) = 0;

  virtual Result<fabric::Binding> get_binding(const fabric::Attachment& attachment,
                                              Deadline deadline) = 0;
  virtual Result<fabric::Binding> unbind(const fabric::Attachment& attachment,
                                         Deadline deadline) = 0;
  virtual Result<fabricapi::ListPage<fabric::Binding>> list_bindings(
      const fabricapi::BindingFilter& filter, const fabricapi::PageRequest& page,
      Deadline deadline) = 0;

  virtual Result<v1::ListNodesResponse> list_nodes(Deadline deadline) = 0;
  virtual Result<v1::FabricNode> forget_node(const fabricapi::ForgetRequest& request,
                                             Deadline deadline) = 0;

  virtual Result<v1::PlanResponse> plan(const fabricapi::PlanRequest& request,
                                        Deadline deadline) = 0;
  virtual Result<fabricapi::Explanation> explain(const fabricapi::ExplainRequest& request,
                                                 Deadline deadline) = 0;
  virtual Result<v1::FabricHealthResponse> health(Deadline deadline) = 0;
};

// All pages. internal where they do not come to an end.
Result<std::vector<fabric::PartitionStatus>> all_partitions(Service& service, Deadline deadline);
Result<std::vector<fabric::Binding>> all_bindings(Service& service,
                                                  const fabricapi::BindingFilter& filter,
                                                  Deadline deadline);

// not_found where there is none of that name.
Result<fabric::PartitionStatus> find_partition(Service& service, const std::string& name,
                                               Deadline deadline);

}  // namespace ibpod::ctl
