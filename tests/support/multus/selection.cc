#include "tests/support/multus/selection.h"

#include "lib/base/dns_name.h"
#include "lib/ip/prefix.h"
#include "lib/json/read.h"

#include <algorithm>
#include <sstream>

namespace ibpod::multus {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// NAMESPACE/NAME@INTERFACE, of which the name alone is required.
Result<Selection> parse_item(const std::string& item) {
  Selection selection;
  std::string rest = trimmed(item);
  const size_t slash = rest.find('/');
  if (slash != rest.npos) {
    selection.name_space = rest.substr(0, slash);
    rest = rest.substr(slash + 1);
  }
  const size_t at = rest.find('@');
  if (at != rest.npos) selection.interface = rest.substr(at + 1);
  selection.name = rest.substr(0, at);
  const bool named = is_dns_label(selection.name) &&
                     (selection.name_space.empty() || is_dns_label(selection.name_space));
  if (named) return selection;
  return Error(Code::invalid, "networks: \"" + item + "\" names no network");
}

Result<std::vector<Selection>> parse_items(const std::string& annotation) {
  std::vector<Selection> selections;
  std::istringstream rest(annotation);
  for (std::string item; std::getline(rest, item, ',');) {
    const Selection selection = TRY(parse_item(item));
    selections.push_back(selection);
  }
  return selections;
}

Result<Selection> read_selection(const json::Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Selection selection;
  TRY(take(fields, "name", selection.name));
  TRY(take(fields, "namespace", selection.name_space));
  TRY(take(fields, "interface", selection.interface));
  TRY(take(fields, "mac", selection.mac));
  TRY(take(fields, "infiniband-guid", selection.guid));
  TRY(take(fields, "deviceID", selection.device));
  TRY(take(fields, "ips", selection.ips));
  selection.cni_args = TRY(fields.find("cni-args"));
  if (selection.name.empty()) return value.wrong("\"name\" is missing");
  if (!selection.cni_args || selection.cni_args->is_object()) return selection;
  return selection.cni_args->wrong("expected an object");
}

bool is_hardware_address(const std::string& text) {
  constexpr size_t kEthernet = 6, kEui64 = 8, kInfiniBand = 20;
  const size_t bytes = (text.size() + 1) / 3;
  if (text.size() % 3 != 2) return false;
  for (size_t place = 0; place < text.size(); ++place) {
    const bool fits = place % 3 == 2 ? text[place] == ':' || text[place] == '-'
                                     : std::isxdigit(static_cast<unsigned char>(text[place])) != 0;
    if (!fits) return false;
  }
  return bytes == kEthernet || bytes == kEui64 || bytes == kInfiniBand;
}

Status check(const Selection& selection) {
  for (const std::string& address : {selection.mac, selection.guid}) {
    if (!address.empty() && !is_hardware_address(address))
      return Error(Code::invalid, "networks: \"" + address + "\" is no hardware address");
  }
  for (const std::string& ip : selection.ips) {
    if (!ip::Address::parse(ip) && !ip::Prefix::parse(ip))
      return Error(Code::invalid, "networks: \"" + ip + "\" is not an IP address");
  }
  return ok();
}

}  // namespace

Result<std::vector<Selection>> parse_selections(const std::string& annotation,
                                                const std::string& pods_namespace) {
  std::vector<Selection> selections;
  if (annotation.find_first_of("[{\"") == annotation.npos) {
    selections = TRY(parse_items(annotation));
  } else {
    const json::Value list = TRY(json::Value::parse(annotation).during("networks"));
    selections = TRY(json::read_list(list, read_selection).during("networks"));
  }
  for (Selection& selection : selections) {
    TRY(check(selection));
    if (selection.name_space.empty()) selection.name_space = pods_namespace;
  }
  return selections;
}

}  // namespace ibpod::multus
