#include "tests/fabric/sm/secure_fixture.h"

#include <algorithm>

namespace ibpod {
namespace {

bool settled(const SecureBed::Whole& whole) {
  return std::all_of(whole.partitions.begin(), whole.partitions.end(),
                     [](const auto& one) { return one.state == fabric::TenancyState::ready; }) &&
         std::none_of(whole.bindings.begin(), whole.bindings.end(), [](const auto& one) {
           return one.standing.reason == fabric::Reason::waiting;
         });
}

}  // namespace

SecureBed::Whole SecureBed::whole() {
  fabricapi::Client root = SmBed::client();
  Whole whole;
  until([&] {
    const auto bindings = root.list_bindings({}, {}, patience());
    const auto partitions = root.list_partitions({}, patience());
    const auto nodes = root.list_nodes(patience());
    REQUIRE((bindings && partitions && nodes));
    whole = {bindings->items, partitions->items, *nodes, {}};
    return settled(whole);
  });
  whole.tables = subnet.tables();
  return whole;
}

fabricapi::BindingFilter SecureBed::of_node(unsigned host) {
  fabricapi::BindingFilter filter;
  filter.node = node_of(host);
  return filter;
}

ib::Guid SecureBed::unseen_guid(unsigned host) const {
  const auto given = node(host).allocate_guids({node_of(host), "0000:01:00.0", {0}}, patience());
  REQUIRE_MESSAGE(given, given.error().text());
  REQUIRE(given->size() == 1);
  return given->front().guid;
}

fabricapi::BindRequest SecureBed::unseen_request(unsigned host,
                                                 const std::string& partition) const {
  fabricapi::BindRequest request = SmBed::request(host, partition, "unseen");
  request.guid = unseen_guid(host);
  return request;
}

}  // namespace ibpod
