#include "sm/ufm/messages.h"

#include "lib/base/join.h"
#include "lib/https/failure.h"
#include "sm/ufm/document.h"
#include "sm/ufm/values.h"

#include <algorithm>

namespace ibpod::sm::ufm {
namespace {

using json::Value;

Result<std::string> read_version(std::string_view text) {
  const Value document = TRY(parse_document(text));
  const Value version = TRY(document.at("ufm_release_version"));
  return read_name(version);
}

Result<SiteSettings> read_settings(std::string_view text) {
  const auto document = parse_document(text);
  if (!document || !document->is_object())
    return Error(Code::invalid, "expected a JSON object of settings");
  SiteSettings settings;
  if (const auto membership = document->find("default_membership"))
    settings.default_membership = TRY(read_membership(*membership));
  if (const auto per_port = document->find("m_key_per_port"))
    settings.m_key_per_port = TRY(read_flag(*per_port));
  return settings;
}

Result<std::vector<ib::Guid>> read_ports(std::string_view text) {
  const Value document = TRY(parse_document(text));
  const std::vector<Value> elements = TRY(document.elements());
  std::vector<ib::Guid> ports;
  for (const Value& element : elements) {
    const Value value = TRY(element.at("guid"));
    const ib::Guid guid = TRY(read_guid(value));
    ports.push_back(guid);
  }
  std::sort(ports.begin(), ports.end());
  const auto twice = std::adjacent_find(ports.begin(), ports.end());
  if (twice == ports.end()) return ports;
  return Error(Code::invalid, "the port " + twice->text() + " appears twice");
}

// Zeros or ones: the GUID of a virtual port that was not given one.
bool is_unset(const Value& guid) {
  const auto text = guid.string();
  return text && (text->find_first_not_of("0xX:") == std::string::npos ||
                  text->find_first_not_of("fF:", text->starts_with("0x") ? 2 : 0) == text->npos);
}

Result<UfmVport> read_vport(const Value& virtual_port, const Value& physical_port) {
  const ib::Guid guid = TRY(read_guid(virtual_port));
  const ib::Guid port = TRY(read_guid(physical_port));
  return UfmVport{guid, port};
}

Result<std::vector<UfmVport>> read_vports(std::string_view text) {
  const Value document = TRY(parse_document(text));
  const std::vector<Value> elements = TRY(document.elements());
  std::vector<UfmVport> vports;
  for (const Value& element : elements) {
    const Value guid = TRY(element.at("virtual_port_guid"));
    const Value port = TRY(element.at("port_guid"));
    if (is_unset(guid)) continue;
    const UfmVport vport = TRY(read_vport(guid, port));
    vports.push_back(vport);
  }
  const auto by_guid = [](const UfmVport& a, const UfmVport& b) { return a.guid < b.guid; };
  std::sort(vports.begin(), vports.end(), by_guid);
  const auto same = [](const UfmVport& a, const UfmVport& b) { return a.guid == b.guid; };
  const auto twice = std::adjacent_find(vports.begin(), vports.end(), same);
  if (twice == vports.end()) return vports;
  return Error(Code::invalid, "the virtual port " + twice->guid.text() + " appears twice");
}

Value guid_list(const std::vector<ib::Guid>& guids) {
  Value list = Value::array();
  for (const ib::Guid guid : guids) list.push(guid_text(guid));
  return list;
}

}  // namespace

Result<std::string> parse_version(std::string_view text) {
  return as_unavailable(read_version(text));
}
Result<SiteSettings> parse_settings(std::string_view text) {
  return as_unavailable(read_settings(text));
}
Result<std::vector<ib::Guid>> parse_ports(std::string_view text) {
  return as_unavailable(read_ports(text));
}
Result<std::vector<UfmVport>> parse_vports(std::string_view text) {
  return as_unavailable(read_vports(text));
}

Status check_change(std::string_view text) {
  if (https::is_html(text)) return Error(Code::unavailable, "expected the answer of UFM, got HTML");
  return ok();
}

std::string write_addition(const Addition& addition) {
  Value document = Value::object();
  document.set("pkey", pkey_text(addition.pkey)).set("guids", guid_list(addition.guids));
  document.set("index0", addition.index0).set("ip_over_ib", addition.ip_over_ib);
  document.set("membership", ib::name(addition.membership));
  return document.text();
}

std::string write_creation(const Addition& addition) {
  Value document = Value::object();
  document.set("pkey", pkey_text(addition.pkey)).set("index0", addition.index0);
  document.set("ip_over_ib", addition.ip_over_ib);
  return document.text();
}

std::string write_removal(ib::PKey pkey, const std::vector<ib::Guid>& guids) {
  Value document = Value::object();
  document.set("pkey", pkey_text(pkey)).set("guids", guid_list(guids));
  return document.text();
}

std::string join_guids(const std::vector<ib::Guid>& guids) { return join(guids, ",", guid_text); }

}  // namespace ibpod::sm::ufm
