#include "tests/support/ufm/rest_answer.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_text.h"

#include <algorithm>

namespace ibpod::fake_ufm {
namespace {

using json::Value;

constexpr const char* kProxyPage =
    "<html><head><title>503 Service Temporarily Unavailable</title></head>"
    "<body><h1>Service Temporarily Unavailable</h1></body></html>\n";

Value show_member(ib::Guid guid, const Member& member, const RestSettings& settings) {
  Value shown = Value::object();
  shown.set("guid", show(guid, settings));
  if (settings.shows_index0) shown.set("index0", member.index0);
  if (settings.shows_membership) shown.set("membership", ib::name(member.membership));
  return shown;
}

Value show_qos(const Qos& qos) {
  Value shown = Value::object();
  shown.set("mtu_limit", qos.mtu_limit);
  shown.set("service_level", qos.service_level);
  const Result<Value> rate = Value::parse(qos.rate_limit);
  shown.set("rate_limit", rate ? *rate : Value(qos.rate_limit));
  return shown;
}

Value show_one(ib::PKey pkey, const Partition& partition, Shown what,
               const RestSettings& settings) {
  Value shown = Value::object();
  shown.set("partition", partition.name);
  shown.set("ip_over_ib", partition.ip_over_ib);
  if (what.qos) shown.set("qos_conf", show_qos(partition.qos));
  if (!what.guids) return shown;
  if (pkey == kManagement && settings.shows_management_membership) {
    shown.set("membership", ib::name(settings.default_membership));
    shown.set("index0", false);
  }
  Value members = Value::array();
  for (const auto& [guid, member] : partition.members)
    members.push(show_member(guid, member, settings));
  return shown.set("guids", members);
}

Value show_pkeys(const Partitions& partitions, const RestSettings& settings) {
  Value list = Value::array();
  for (const auto& [pkey, partition] : partitions) list.push(show(pkey, settings));
  return list;
}

Value show_array(const Partitions& partitions, Shown what, const RestSettings& settings) {
  Value list = Value::array();
  for (const auto& [pkey, partition] : partitions) {
    Value shown = show_one(pkey, partition, what, settings);
    list.push(shown.set("pkey", show(pkey, settings)));
  }
  return list;
}

Value show_map(const Partitions& partitions, Shown what, const RestSettings& settings) {
  Value map = Value::object();
  for (const auto& [pkey, partition] : partitions)
    map.set(show(pkey, settings), show_one(pkey, partition, what, settings));
  return map;
}

const Port* find_port(const std::vector<Port>& ports, ib::Guid guid) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.guid == guid; });
  return found == ports.end() ? nullptr : &*found;
}

bool is_of_system(const Port& port, const std::string& system, const RestSettings& settings) {
  return system.empty() || system == port.system || system == show(port.system_guid, settings);
}

}  // namespace

HttpReply plain_text(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n", .type = "text/plain"};
}

HttpReply make_reply(const Outcome& outcome, std::string body) {
  HttpReply reply{.status = outcome.status, .body = std::move(body)};
  if (!outcome.ok()) reply = plain_text(outcome.status, outcome.text);
  if (outcome.delivery == Delivery::html)
    reply = {.status = outcome.status, .body = kProxyPage, .type = "text/html"};
  if (outcome.delivery == Delivery::truncated) reply.body.resize(reply.body.size() / 2);
  reply.delivery = outcome.delivery;
  reply.delay = outcome.delay;
  return reply;
}

std::string show_partitions(const Partitions& partitions, Shown shown,
                            const RestSettings& settings) {
  if (settings.guids_list == GuidsList::ignored) shown.guids = false;
  const bool plain = !shown.guids && !shown.qos;
  if (plain && settings.plain_list == PlainList::pkeys)
    return show_pkeys(partitions, settings).text();
  const bool is_array =
      plain ? settings.plain_list == PlainList::objects : settings.guids_list == GuidsList::objects;
  return is_array ? show_array(partitions, shown, settings).text()
                  : show_map(partitions, shown, settings).text();
}

std::string show_partition(const Partitions& partitions, Shown shown,
                           const RestSettings& settings) {
  if (partitions.empty()) return "{}";
  const auto& [pkey, partition] = *partitions.begin();
  return show_one(pkey, partition, shown, settings).text();
}

std::string show_version(const RestSettings& settings) {
  return Value::object().set("ufm_release_version", settings.version).text();
}

Result<std::string> show_smconf(const std::string& parameter, const RestSettings& settings) {
  Value all = Value::object();
  const bool default_keys = settings.has_default_keys;
  all.set("m_key", default_keys ? "0x0000000000000000" : "0x0123456789abcdef");
  all.set("sm_key", default_keys ? "0x0000000000000001" : "0x1234567890abcdef");
  all.set("sa_key", default_keys ? "0x0000000000000001" : "0x234567890abcdef1");
  all.set("subnet_prefix", "0xfe80000000000000");
  all.set("sminfo_polling_timeout", 5000).set("polling_retry_number", 4);
  all.set("max_wire_smps", 8).set("sm_priority", 15).set("routing_engine_active", "ftree");
  if (settings.shows_m_key_per_port) all.set("m_key_per_port", settings.m_key_per_port);
  if (settings.shows_default_membership)
    all.set("default_membership", ib::name(settings.default_membership));
  if (parameter.empty()) return all.text();
  const std::optional<Value> one = all.find(parameter);
  if (!one) return Error(Code::not_found, "Parameter " + parameter + " does not exist");
  return Value::object().set(parameter, *one).text();
}

std::string show_ports(const std::vector<Port>& ports, const std::string& system,
                       const std::string& system_type, const RestSettings& settings) {
  Value list = Value::array();
  for (const Port& port : ports) {
    if (!is_of_system(port, system, settings)) continue;
    if (!system_type.empty() && system_type != port.system_type) continue;
    Value shown = Value::object();
    const std::string guid = show(port.guid, settings);
    shown.set("guid", guid).set("name", guid + "_1").set("dname", "HCA-1/1");
    shown.set("systemID", show(port.system_guid, settings)).set("system_name", port.system);
    shown.set("lid", port.lid).set("physical_state", "Link Up");
    list.push(shown.set("logical_state", port.logical_state));
  }
  return list.text();
}

std::string show_vports(const std::vector<Vport>& vports, const std::vector<Port>& ports,
                        const std::string& system, const std::string& port,
                        const RestSettings& settings) {
  Value list = Value::array();
  for (const Vport& vport : vports) {
    const Port* physical = find_port(ports, vport.port);
    const std::string guid = show(vport.port, settings);
    if (!port.empty() && port != guid && port != guid + "_1") continue;
    if (physical == nullptr && !system.empty()) continue;
    if (physical != nullptr && !is_of_system(*physical, system, settings)) continue;
    Value shown = Value::object();
    shown.set("virtual_port_guid", show(vport.guid, settings));
    shown.set("virtual_port_state", vport.state).set("virtual_port_lid", vport.lid);
    shown.set("port_guid", guid).set("port_name", guid + "_1").set("physical_port_number", 1);
    if (physical != nullptr) {
      shown.set("system_guid", show(physical->system_guid, settings));
      shown.set("system_name", physical->system).set("node_description", physical->system);
    }
    list.push(shown.set("system_ip", "0.0.0.0"));
  }
  return list.text();
}

}  // namespace ibpod::fake_ufm
