#include "ctl/service.h"

#include <set>

namespace ibpod::ctl {
namespace {

// `page`: the token of a page -> Result<Listed<Item>>.
template <typename Item, typename NextPage>
Result<std::vector<Item>> all_pages(NextPage page) {
  std::vector<Item> items;
  std::set<std::string> seen;
  for (std::string token; seen.insert(token).second;) {
    fabricapi::ListPage<Item> listed = TRY(page(token));
    for (Item& item : listed.items) items.push_back(std::move(item));
    if (listed.next.empty()) return items;
    token = listed.next;
  }
  return Error(Code::internal, "the service returned the same page of a list twice");
}

}  // namespace

Result<std::vector<fabric::PartitionStatus>> all_partitions(Service& service, Deadline deadline) {
  return all_pages<fabric::PartitionStatus>([&](const std::string& token) {
    return service.list_partitions({.size = 0, .token = token}, deadline);
  });
}

Result<std::vector<fabric::Binding>> all_bindings(Service& service,
                                                  const fabricapi::BindingFilter& filter,
                                                  Deadline deadline) {
  return all_pages<fabric::Binding>([&](const std::string& token) {
    return service.list_bindings(filter, {.size = 0, .token = token}, deadline);
  });
}

Result<fabric::PartitionStatus> find_partition(Service& service, const std::string& name,
                                               Deadline deadline) {
  const std::vector<fabric::PartitionStatus> partitions = TRY(all_partitions(service, deadline));
  for (const fabric::PartitionStatus& status : partitions)
    if (status.spec.name == name) return status;
  return Error(Code::not_found, "there is no partition " + name);
}

}  // namespace ibpod::ctl
