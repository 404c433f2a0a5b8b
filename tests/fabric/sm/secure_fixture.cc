#include "tests/fabric/sm/secure_fixture.h"

#include <algorithm>
#include <utility>

namespace ibpod {
namespace {

bool settled(const SecureFixture::ServiceState& whole) {
  return std::all_of(whole.partitions.begin(), whole.partitions.end(),
                     [](const auto& one) { return one.state == fabric::PartitionState::ready; }) &&
         std::none_of(whole.bindings.begin(), whole.bindings.end(), [](const auto& one) {
           return one.condition.reason == fabric::Reason::waiting;
         });
}

}  // namespace

SecureFixture::ServiceState SecureFixture::service_state() {
  fabricapi::Client root = SmFixture::client();
  ServiceState whole;
  until([&] {
    const auto bindings = root.list_bindings({}, {}, deadline_in());
    const auto partitions = root.list_partitions({}, deadline_in());
    const auto nodes = root.list_nodes(deadline_in());
    REQUIRE((bindings && partitions && nodes));
    whole = {bindings->items, partitions->items, nodes->SerializeAsString(), {}};
    return settled(whole);
  });
  // A sweep of OpenSM may still write tables.
  whole.tables = subnet.tables();
  until([&] {
    std::vector<ib::PKeyTable> before = std::exchange(whole.tables, subnet.tables());
    return whole.tables == before;
  });
  return whole;
}

fabricapi::BindingFilter SecureFixture::of_node(unsigned host) {
  fabricapi::BindingFilter filter;
  filter.node = node_of(host);
  return filter;
}

ib::Guid SecureFixture::unseen_guid(unsigned host) const {
  const auto given = node(host).allocate_guids({node_of(host), "0000:01:00.0", {0}}, deadline_in());
  REQUIRE_MESSAGE(given, given.error().text());
  REQUIRE(given->size() == 1);
  return given->front().guid;
}

fabricapi::BindRequest SecureFixture::unseen_request(unsigned host,
                                                     const std::string& partition) const {
  fabricapi::BindRequest request = SmFixture::request(host, partition, "unseen");
  request.guid = unseen_guid(host);
  return request;
}

}  // namespace ibpod
