#include "ctl/connect.h"

#include "lib/base/private_file.h"
#include "lib/fabricapi/service_address.h"

#include <iostream>

namespace ibpod::ctl {
namespace {

using fabricapi::Client;

// A service says of another fabric what it says of a thing that there is not, so no `not_found` is
// believed before it has answered a question that names nothing.
class ClientService final : public Service {
 public:
  explicit ClientService(Client client) : client_(std::move(client)) {}

  Result<fabric::PartitionStatus> create_partition(const fabric::Partition& partition,
                                                   Deadline deadline) override {
    return checked(client_.create_partition(partition, deadline), deadline);
  }
  Result<fabric::PartitionStatus> update_partition(const fabric::Partition& partition,
                                                   Deadline deadline) override {
    return checked(client_.update_partition(partition, deadline), deadline);
  }
  Result<fabric::PartitionStatus> delete_partition(const std::string& name,
                                                   Deadline deadline) override {
    return checked(client_.delete_partition(name, deadline), deadline);
  }
  Result<fabric::PartitionStatus> forget_ports(const std::string& partition,
                                               Deadline deadline) override {
    return checked(client_.delete_partition(partition, deadline, true), deadline);
  }
  Result<fabricapi::ListPage<fabric::PartitionStatus>> list_partitions(
      const fabricapi::PageRequest& page, Deadline deadline) override {
    return checked(client_.list_partitions(page, deadline), deadline);
  }
  Result<fabric::Binding> get_binding(const fabric::Attachment& attachment,
                                      Deadline deadline) override {
    return checked(client_.get_binding(attachment, deadline), deadline);
  }
  Result<fabric::Binding> unbind(const fabric::Attachment& attachment, Deadline deadline) override {
    return checked(client_.unbind(attachment, deadline), deadline);
  }
  Result<fabricapi::ListPage<fabric::Binding>> list_bindings(const fabricapi::BindingFilter& filter,
                                                             const fabricapi::PageRequest& page,
                                                             Deadline deadline) override {
    return checked(client_.list_bindings(filter, page, deadline), deadline);
  }
  Result<v1::ListNodesResponse> list_nodes(Deadline deadline) override {
    return checked(client_.list_nodes(deadline), deadline);
  }
  Result<v1::FabricNode> forget_node(const fabricapi::ForgetRequest& request,
                                     Deadline deadline) override {
    return checked(client_.forget_node(request, deadline), deadline);
  }
  Result<v1::PlanResponse> plan(const fabricapi::PlanRequest& request, Deadline deadline) override {
    return checked(client_.plan(request, deadline), deadline);
  }
  Result<fabricapi::Explanation> explain(const fabricapi::ExplainRequest& request,
                                         Deadline deadline) override {
    return checked(client_.explain(request, deadline), deadline);
  }
  Result<v1::FabricHealthResponse> health(Deadline deadline) override {
    return checked(client_.health(deadline), deadline);
  }

 private:
  template <typename Value>
  Result<Value> checked(Result<Value> told, Deadline deadline) {
    if (told || told.error().code() != Code::not_found) return told;
    const auto health = client_.health(deadline);
    // A caller that may not query health has reached the fabric.
    if (health || health.error().code() == Code::denied) return told;
    if (health.error().code() != Code::not_found) return health.error();
    return Error(health.error()).reported_as(kOtherFabric);
  }

  Client client_;
};

// TLS needs all three.
Status check_files(const SmAddress& address) {
  for (const auto& [option, file] :
       {std::pair{"--certificate", &address.certificate}, std::pair{"--key", &address.key},
        std::pair{"--ca", &address.ca}}) {
    if (file->empty()) {
      return Error(Code::invalid, std::string(option) + ": " + address.address +
                                      " requires TLS: set --certificate, --key and "
                                      "--ca");
    }
  }
  return ok();
}

// The key is used all the same: a Secret's volume has it so.
void warn_of_others(const Path& key) {
  const Status only_ours = check_private(key);
  if (!only_ours && only_ours.error().code() == Code::denied)
    std::cerr << "warning: --key: " << only_ours.error().text() << "\n";
}

}  // namespace

Result<std::unique_ptr<Service>> connect(const SmAddress& address) {
  TRY(fabricapi::check_address(address.address).during("--sm").reported_as(kUsage));
  if (fabricapi::needs_files(address.address)) TRY(check_files(address).reported_as(kUsage));
  if (fabricapi::needs_files(address.address)) warn_of_others(address.key);
  const rpc::TlsFiles files{address.certificate, address.key, address.ca};
  Client client =
      TRY(fabricapi::client_of({address.address, files, address.fabric}).reported_as(kOwnFiles));
  return std::unique_ptr<Service>(std::make_unique<ClientService>(std::move(client)));
}

}  // namespace ibpod::ctl
