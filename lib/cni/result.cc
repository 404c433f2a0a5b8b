#include "lib/cni/result.h"

#include "lib/json/fields.h"

#include <limits>

namespace ibpod::cni {
namespace {

constexpr Version kFirstWithLists{0, 3, 0};      // ips and interfaces instead of ip4 and ip6
constexpr Version kFirstWithoutFamily{1, 0, 0};  // no ips[].version any more
constexpr Version kFirstWithHardware{1, 1,
                                     0};  // mtu, socketPath, pciID, and the finer points of routes

// An error of a parser that knows no place, put where the value stands.
template <typename T>
Result<T> placed(const json::Value& value, Result<T> parsed) {
  if (parsed) return parsed;
  return value.wrong(parsed.error().text());
}

Result<ip::Prefix> parse_prefix(json::Fields& fields, const json::Value& object, const char* key) {
  const std::optional<json::Value> value = TRY(fields.find(key));
  if (!value) return object.wrong("the key \"" + std::string(key) + "\" is missing");
  const std::string text = TRY(value->string());
  return placed(*value, ip::Prefix::parse(text));
}

// Go writes an address that is not there as an empty string, or not at all.
Result<std::optional<ip::Address>> parse_address(json::Fields& fields, const char* key) {
  const std::optional<json::Value> value = TRY(fields.find(key));
  if (!value) return std::optional<ip::Address>();
  const std::string text = TRY(value->string());
  if (text.empty()) return std::optional<ip::Address>();
  const ip::Address address = TRY(placed(*value, ip::Address::parse(text)));
  return std::optional<ip::Address>(address);
}

Result<std::optional<uint32_t>> parse_number(json::Fields& fields, const char* key) {
  const std::optional<int64_t> number =
      TRY(fields.integer(key, 0, std::numeric_limits<uint32_t>::max()));
  if (!number) return std::optional<uint32_t>();
  return std::optional<uint32_t>(static_cast<uint32_t>(*number));
}

// 0 means that there is none.
Result<std::optional<uint32_t>> parse_amount(json::Fields& fields, const char* key) {
  const std::optional<uint32_t> amount = TRY(parse_number(fields, key));
  return amount == 0U ? std::optional<uint32_t>() : amount;
}

Result<std::string> parse_text(json::Fields& fields, const char* key) {
  const std::optional<std::string> text = TRY(fields.string(key));
  return text.value_or("");
}

Result<Route> parse_route(const json::Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Route route;
  route.destination = TRY(parse_prefix(fields, value, "dst"));
  route.gateway = TRY(parse_address(fields, "gw"));
  route.mtu = TRY(parse_amount(fields, "mtu"));
  route.advmss = TRY(parse_amount(fields, "advmss"));
  route.priority = TRY(parse_amount(fields, "priority"));
  route.table = TRY(parse_number(fields, "table"));
  const std::optional<int64_t> scope = TRY(fields.integer("scope", 0, 255));
  if (scope) route.scope = static_cast<uint8_t>(*scope);
  return route;
}

Status parse_routes(json::Fields& fields, std::vector<Route>& routes) {
  const std::optional<json::Value> list = TRY(fields.find("routes"));
  if (!list) return ok();
  const std::vector<json::Value> elements = TRY(list->elements());
  for (const json::Value& element : elements) {
    Route route = TRY(parse_route(element));
    routes.push_back(route);
  }
  return ok();
}

Result<Interface> parse_interface(const json::Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Interface interface;
  interface.name = TRY(parse_text(fields, "name"));
  if (interface.name.empty()) return value.wrong("the key \"name\" is missing");
  interface.mac = TRY(parse_text(fields, "mac"));
  interface.mtu = TRY(parse_amount(fields, "mtu"));
  interface.sandbox = TRY(parse_text(fields, "sandbox"));
  interface.pci_id = TRY(parse_text(fields, "pciID"));
  interface.socket_path = TRY(parse_text(fields, "socketPath"));
  return interface;
}

Result<IpConfig> parse_ip(const json::Value& value, size_t interfaces) {
  json::Fields fields = TRY(json::Fields::of(value));
  IpConfig ip;
  ip.address = TRY(parse_prefix(fields, value, "address"));
  ip.gateway = TRY(parse_address(fields, "gateway"));
  const std::optional<json::Value> index = TRY(fields.find("interface"));
  if (!index) return ip;
  const int64_t number = TRY(index->integer());
  if (number < 0 || static_cast<uint64_t>(number) >= interfaces) {
    return index->wrong(std::to_string(number) + " is out of range: the result has " +
                        std::to_string(interfaces) + " interfaces");
  }
  ip.interface = static_cast<size_t>(number);
  return ip;
}

Status parse_lists(json::Fields& fields, AddResult& result) {
  const std::optional<json::Value> interfaces = TRY(fields.find("interfaces"));
  const std::optional<json::Value> ips = TRY(fields.find("ips"));
  if (interfaces) {
    const std::vector<json::Value> elements = TRY(interfaces->elements());
    for (const json::Value& element : elements) {
      Interface interface = TRY(parse_interface(element));
      result.interfaces.push_back(std::move(interface));
    }
  }
  if (ips) {
    const std::vector<json::Value> elements = TRY(ips->elements());
    for (const json::Value& element : elements) {
      const IpConfig ip = TRY(parse_ip(element, result.interfaces.size()));
      result.ips.push_back(ip);
    }
  }
  return parse_routes(fields, result.routes);
}

// ip4 and ip6 of 0.1.0 and 0.2.0: one address each, with its routes inside.
Status parse_family(json::Fields& fields, const char* key, ip::Family family, AddResult& result) {
  const std::optional<json::Value> value = TRY(fields.find(key));
  if (!value) return ok();
  json::Fields inside = TRY(json::Fields::of(*value));
  IpConfig ip;
  ip.address = TRY(parse_prefix(inside, *value, "ip"));
  if (ip.address.address.family() != family) {
    return value->wrong(ip.address.text() + " belongs to the other address family");
  }
  ip.gateway = TRY(parse_address(inside, "gateway"));
  result.ips.push_back(ip);
  return parse_routes(inside, result.routes);
}

Status parse_families(json::Fields& fields, AddResult& result) {
  TRY(parse_family(fields, "ip4", ip::Family::v4, result));
  return parse_family(fields, "ip6", ip::Family::v6, result);
}

Result<bool> has_lists(json::Fields& fields) {
  const std::optional<std::string> text = TRY(fields.string("cniVersion"));
  if (text && !text->empty()) {
    const Result<Version> version = Version::parse(*text);
    if (version && is_supported(*version)) return *version >= kFirstWithLists;
    return Error(Code::invalid, "cniVersion: expected one of " + cni::text(supported_versions()) +
                                    ", got \"" + *text + "\"");
  }
  const std::optional<json::Value> ip4 = TRY(fields.find("ip4"));
  const std::optional<json::Value> ip6 = TRY(fields.find("ip6"));
  return !ip4 && !ip6;
}

void set_number(json::Value& object, const char* key, std::optional<uint32_t> number) {
  if (number) object.set(key, *number);
}

void set_text(json::Value& object, const char* key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

void set_address(json::Value& object, const char* key, const std::optional<ip::Address>& address) {
  if (address) object.set(key, address->text());
}

void set_list(json::Value& object, const char* key, json::Value list) {
  const auto elements = list.elements();
  if (elements && !elements->empty()) object.set(key, std::move(list));
}

json::Value to_json(const Interface& interface, Version version) {
  json::Value object = json::Value::object();
  object.set("name", interface.name);
  set_text(object, "mac", interface.mac);
  if (version >= kFirstWithHardware) set_number(object, "mtu", interface.mtu);
  set_text(object, "sandbox", interface.sandbox);
  if (version >= kFirstWithHardware) {
    set_text(object, "socketPath", interface.socket_path);
    set_text(object, "pciID", interface.pci_id);
  }
  return object;
}

json::Value to_json(const IpConfig& ip, Version version) {
  json::Value object = json::Value::object();
  if (version < kFirstWithoutFamily) {
    object.set("version", ip.address.address.family() == ip::Family::v4 ? "4" : "6");
  }
  if (ip.interface) object.set("interface", static_cast<int64_t>(*ip.interface));
  object.set("address", ip.address.text());
  set_address(object, "gateway", ip.gateway);
  return object;
}

json::Value to_json(const Route& route, Version version) {
  json::Value object = json::Value::object();
  object.set("dst", route.destination.text());
  set_address(object, "gw", route.gateway);
  if (version < kFirstWithHardware) return object;
  set_number(object, "mtu", route.mtu);
  set_number(object, "advmss", route.advmss);
  set_number(object, "priority", route.priority);
  set_number(object, "table", route.table);
  if (route.scope) object.set("scope", static_cast<int64_t>(*route.scope));
  return object;
}

void set_lists(json::Value& document, const AddResult& result, Version version) {
  json::Value interfaces = json::Value::array();
  for (const Interface& interface : result.interfaces) interfaces.push(to_json(interface, version));
  json::Value ips = json::Value::array();
  for (const IpConfig& ip : result.ips) ips.push(to_json(ip, version));
  json::Value routes = json::Value::array();
  for (const Route& route : result.routes) routes.push(to_json(route, version));
  set_list(document, "interfaces", std::move(interfaces));
  set_list(document, "ips", std::move(ips));
  set_list(document, "routes", std::move(routes));
}

// The first address of the family, with all routes of that family.
void set_family(json::Value& document, const char* key, ip::Family family, const AddResult& result,
                Version version) {
  for (const IpConfig& ip : result.ips) {
    if (ip.address.address.family() != family) continue;
    json::Value object = json::Value::object();
    object.set("ip", ip.address.text());
    set_address(object, "gateway", ip.gateway);
    json::Value routes = json::Value::array();
    for (const Route& route : result.routes) {
      if (route.destination.address.family() == family) routes.push(to_json(route, version));
    }
    set_list(object, "routes", std::move(routes));
    document.set(key, std::move(object));
    return;
  }
}

json::Value own_json(const AddResult& result) {
  json::Value pkeys = json::Value::object();
  for (const std::string& pkey : result.unverified) pkeys.set(pkey, "not verified");
  return json::Value::object().set("pkeys", std::move(pkeys));
}

Status check_strings(json::Fields& fields, const char* key) {
  const std::optional<json::Value> list = TRY(fields.find(key));
  if (!list) return ok();
  const std::vector<json::Value> elements = TRY(list->elements());
  for (const json::Value& element : elements) TRY(element.string());
  return ok();
}

}  // namespace

Result<AddResult> parse_result(const json::Value& document) {
  json::Fields fields = TRY(json::Fields::of(document));
  AddResult result;
  const bool lists = TRY(has_lists(fields));
  const Status read = lists ? parse_lists(fields, result) : parse_families(fields, result);
  if (!read) return read.error();
  const std::optional<json::Value> dns = TRY(fields.find("dns"));
  if (dns) {
    TRY(check_dns(*dns));
    result.dns = *dns;
  }
  return result;
}

json::Value to_json(const AddResult& result, Version version) {
  json::Value document = json::Value::object();
  document.set("cniVersion", version.text());
  if (version >= kFirstWithLists) {
    set_lists(document, result, version);
  } else {
    set_family(document, "ip4", ip::Family::v4, result, version);
    set_family(document, "ip6", ip::Family::v6, result, version);
  }
  const auto dns = result.dns.members();
  if (dns && !dns->empty()) document.set("dns", result.dns);
  if (!result.unverified.empty()) document.set("ibpod", own_json(result));
  return document;
}

Status check_dns(const json::Value& dns) {
  json::Fields fields = TRY(json::Fields::of(dns));
  TRY(fields.string("domain"));
  TRY(check_strings(fields, "nameservers"));
  TRY(check_strings(fields, "search"));
  return check_strings(fields, "options");
}

}  // namespace ibpod::cni
