#include "sm/probe/discovery.h"

#include "sm/probe/walk.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ibpod::sm::probe {
namespace {

using mad::Attribute;

// The most requests that wait for the scheduler at once; limits the memory that they need.
constexpr size_t kAtOnce = 4096;

// A request to a node that was found.
struct Inquiry {
  WalkedNode* node = nullptr;
  Attribute attribute = Attribute::node_info;
  uint8_t port = 0;
};

mad::Request request_to(const mad::Route& route, Attribute attribute, uint8_t port,
                        const mad::QueryOptions& asking) {
  const mad::SmpRequest question{.attribute = attribute, .modifier = port, .m_key = asking.m_key};
  return {route, question, asking.retry};
}

void visit_some(mad::Scheduler& scheduler, std::span<const NextNode> visits,
                const mad::QueryOptions& asking, Walk& walk, std::vector<WalkedNode*>& met) {
  std::vector<mad::Route> routes;
  for (const NextNode& one : visits) routes.push_back(one.path);
  const auto infos = mad::read_node_infos(scheduler, routes, asking);
  for (size_t i = 0; i < visits.size(); ++i) {
    if (const mad::Failure* const failure = mad::failure_of(infos[i])) {
      walk.add_unanswered({.path = visits[i].path, .why = *failure});
    } else if (WalkedNode* const node = walk.add_node(visits[i], *mad::value_of(infos[i]))) {
      met.push_back(node);
    }
  }
}

std::vector<WalkedNode*> visit(mad::Scheduler& scheduler, const std::vector<NextNode>& visits,
                               const mad::QueryOptions& asking, Walk& walk) {
  std::vector<WalkedNode*> met;
  for (std::span<const NextNode> left = visits; !left.empty();) {
    const auto some = left.first(std::min(left.size(), kAtOnce));
    visit_some(scheduler, some, asking, walk, met);
    left = left.subspan(some.size());
  }
  return met;
}

std::vector<Inquiry> inquiries(WalkedNode* node) {
  std::vector<Inquiry> all{{node, Attribute::node_description}};
  if (!node->is_switch()) {
    all.push_back({node, Attribute::port_info, node->info.local_port});
    return all;
  }
  all.push_back({node, Attribute::switch_info});
  for (int port = 0; port <= node->info.ports; ++port)
    all.push_back({node, Attribute::port_info, static_cast<uint8_t>(port)});
  return all;
}

// A missing description does not count as unanswered: nothing depends on it.
void note(const Inquiry& inquiry, const mad::Outcome<mad::Data>& outcome, Walk& walk) {
  WalkedNode& node = *inquiry.node;
  std::optional<mad::Failure> why;
  const auto keep = [&](const auto& read, auto&& put) {
    if (const auto* const value = mad::value_of(read)) return put(*value);
    why = *mad::failure_of(read);
  };
  if (inquiry.attribute == Attribute::node_description) {
    const auto text = mad::parse_outcome<std::string>(outcome, mad::parse_node_description);
    if (const std::string* const found = mad::value_of(text)) node.description = *found;
  } else if (inquiry.attribute == Attribute::switch_info) {
    keep(mad::parse_outcome<mad::SwitchInfo>(outcome, mad::parse_switch_info),
         [&](const mad::SwitchInfo& info) { node.switch_info = info; });
  } else {
    keep(mad::parse_outcome<mad::PortInfo>(outcome, mad::parse_port_info),
         [&](const mad::PortInfo& info) { node.ports[inquiry.port] = info; });
  }
  if (why) walk.add_unanswered({node.path, inquiry.port, inquiry.attribute, *why});
}

void put(mad::Scheduler& scheduler, const std::vector<Inquiry>& asked,
         const mad::QueryOptions& asking, Walk& walk) {
  std::vector<mad::Request> requests;
  for (const Inquiry& inquiry : asked)
    requests.push_back(request_to(inquiry.node->path, inquiry.attribute, inquiry.port, asking));
  const auto outcomes = mad::query_all(scheduler, std::move(requests), asking.stop);
  for (size_t i = 0; i < asked.size(); ++i) note(asked[i], outcomes[i], walk);
}

void learn(mad::Scheduler& scheduler, const std::vector<WalkedNode*>& nodes,
           const mad::QueryOptions& asking, Walk& walk) {
  std::vector<Inquiry> some;
  for (WalkedNode* const node : nodes) {
    for (const Inquiry& inquiry : inquiries(node)) {
      if (walk.may_ask()) some.push_back(inquiry);
    }
    if (some.size() < kAtOnce && node != nodes.back()) continue;
    put(scheduler, some, asking, walk);
    some.clear();
  }
}

void ask_managers(mad::Scheduler& scheduler, const mad::QueryOptions& asking,
                  fabric::Topology::Contents& contents) {
  std::vector<mad::Route> routes;
  for (const fabric::Port& port : contents.ports) {
    if (!port.is_sm) continue;
    routes.push_back(port.route());
    contents.managers.push_back({port.guid, mad::Failure{}});
  }
  const auto infos = mad::read_sm_infos(scheduler, routes, asking);
  for (size_t i = 0; i < infos.size(); ++i) contents.managers[i].info = infos[i];
}

}  // namespace

fabric::Topology discover(mad::Scheduler& scheduler, const mad::QueryOptions& asking,
                          const DiscoveryLimits& limits) {
  Walk walk(limits);
  for (auto visits = walk.next(); !visits.empty(); visits = walk.next()) {
    const auto met = visit(scheduler, visits, asking, walk);
    learn(scheduler, met, asking, walk);
    for (const WalkedNode* const node : met) walk.follow(*node);
  }
  auto contents = walk.contents();
  ask_managers(scheduler, asking, contents);
  return fabric::Topology(std::move(contents));
}

}  // namespace ibpod::sm::probe
