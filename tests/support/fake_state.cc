#include "tests/support/fake_state.h"

#include <algorithm>
#include <iterator>

namespace ibpod::fake {
namespace {

std::string text(const DeviceGuid& guid) { return guid.value.none() ? "none" : guid.value.text(); }

std::string text(nl::LinkPolicy policy) {
  switch (policy) {
    case nl::LinkPolicy::automatic:
      return "auto";
    case nl::LinkPolicy::enable:
      return "enable";
    case nl::LinkPolicy::disable:
      return "disable";
  }
  return "?";
}

std::string text(const std::optional<ib::PciAddress>& function) {
  return function ? function->text() : "none";
}

std::string text(const nl::Route& route) {
  std::string text = route.destination.text();
  if (route.gateway) text += " via " + route.gateway->text();
  if (route.mtu) text += " mtu " + std::to_string(*route.mtu);
  if (route.advmss) text += " advmss " + std::to_string(*route.advmss);
  if (route.priority) text += " priority " + std::to_string(*route.priority);
  if (route.table) text += " table " + std::to_string(*route.table);
  if (route.scope) text += " scope " + std::to_string(*route.scope);
  return text;
}

std::string ipoib_text(const Interface& interface) {
  std::string text =
      " of " + fake::text(interface.function) + " guid=" + fake::text(interface.guid);
  if (interface.parent) text += " child pkey=" + interface.pkey.text();
  if (interface.mode == nl::IpoibMode::connected) text += " connected";
  return interface.umcast ? text + " umcast" : text;
}

std::string text(const std::string& name, const Interface& interface) {
  std::string text = name + " " + interface.kind + (interface.up ? " up" : " down");
  text += " mtu=" + std::to_string(interface.mtu);
  for (const std::string& altname : interface.altnames) text += " altname=" + altname;
  if (interface.master) text += " port of another";
  if (!interface.alias.empty()) text += " alias=" + interface.alias;
  if (interface.kind == "ipoib") text += ipoib_text(interface);
  for (const ip::Prefix& address : interface.addresses) text += " address=" + address.text();
  for (const ip::Prefix& address : interface.duplicates) text += " duplicate=" + address.text();
  for (const nl::Route& route : interface.routes) text += " route=(" + fake::text(route) + ")";
  return text;
}

std::string kept_text(const PciFunction& pf) {
  std::string text;
  for (const auto& [vf, told] : pf.kept) {
    text += " kept VF " + std::to_string(vf) + " " + fake::text(told.node_guid) + " " +
            fake::text(told.port_guid) + " " + fake::text(told.policy);
  }
  return text;
}

std::string text(const ib::PciAddress& address, const PciFunction& function) {
  std::string text = "function " + address.text() + " driver=" + function.driver.value_or("none");
  if (!function.pf) return text + (function.autoprobe ? "" : " autoprobe=0") + kept_text(function);
  text += " VF " + std::to_string(function.vf) + " of " + function.pf->text();
  text += " made with " + fake::text(function.made_with);
  text += " told " + fake::text(function.node_guid) + " " + fake::text(function.port_guid);
  return text + " policy=" + fake::text(function.policy);
}

std::string place(int id, const NetNamespace& where) {
  if (id == kHostId) return "host";
  return "namespace " + std::to_string(id) + " " +
         (where.path ? where.path->string() : "(no path)");
}

std::string text(const std::string& name, const RdmaDevice& device) {
  return name + " rdma of " + device.function.text() + " guids " + fake::text(device.node_guid) +
         " " + fake::text(device.port_guid) + (device.deaf ? " deaf" : "");
}

}  // namespace

std::vector<std::string> lines(const State& state) {
  std::vector<std::string> all;
  if (state.rdma_mode == nl::RdmaNetnsMode::shared) all.push_back("rdma devices are shared");
  for (const auto& [address, function] : state.functions) all.push_back(text(address, function));
  for (const auto& [id, where] : state.namespaces) {
    all.push_back(place(id, where));
    for (const auto& [name, device] : where.rdma) {
      all.push_back(place(id, where) + ": " + text(name, device));
    }
    for (const auto& [name, interface] : where.interfaces) {
      all.push_back(place(id, where) + ": " + text(name, interface));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string diff(const State& before, const State& after) {
  const std::vector<std::string> was = lines(before);
  const std::vector<std::string> is = lines(after);
  std::vector<std::string> gone;
  std::vector<std::string> come;
  std::set_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(gone));
  std::set_difference(is.begin(), is.end(), was.begin(), was.end(), std::back_inserter(come));
  std::string text;
  for (const std::string& line : gone) text += "- " + line + "\n";
  for (const std::string& line : come) text += "+ " + line + "\n";
  // A field that is compared but not printed must not pass as "no difference".
  return text.empty() && before != after ? "a difference that is not printed\n" : text;
}

}  // namespace ibpod::fake
