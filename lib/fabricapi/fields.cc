#include "lib/fabricapi/fields.h"

#include "lib/base/dns_name.h"
#include "lib/base/utf8.h"
#include "lib/fabric/cluster_names.h"
#include "lib/ib/partition_name.h"
#include "lib/ib/pci_address.h"

#include <algorithm>

namespace ibpod::fabricapi {
namespace {

constexpr size_t kLongestQuoted = 80;

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// True if the text begins with a control character: C0, DEL or C1 (U+0080 to U+009F).
bool is_control(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  return byte(0) < ' ' || byte(0) == 0x7f || (byte(0) == 0xc2 && byte(1) < 0xa0);
}

}  // namespace

Error wrong(std::string_view field, std::string_view got, std::string_view expected) {
  std::string text = std::string(field) + ": expected " + std::string(expected);
  if (got.empty()) return Error(Code::invalid, text + ", got nothing");
  const bool whole = got.size() <= kLongestQuoted;
  text += ", got \"" + cleaned(got.substr(0, kLongestQuoted)) + (whole ? "\"" : "\"...");
  return Error(Code::invalid, text);
}

Error wrong_number(std::string_view field, int64_t got, std::string_view expected) {
  return Error(Code::invalid, std::string(field) + ": expected " + std::string(expected) +
                                  ", got " + std::to_string(got));
}

Status check_count(std::string_view field, int count, int most) {
  if (count <= most) return ok();
  return wrong_number(field, count, "at most " + std::to_string(most) + " of them");
}

Result<std::string> read_name(std::string_view field, const std::string& text) {
  if (is_dns_subdomain(text)) return text;
  return wrong(field, text, "a name of lowercase letters, digits, - and .");
}

Result<std::string> read_node(std::string_view field, const std::string& text) {
  if (text.find('/') == std::string::npos) return read_name(field, text);
  if (fabric::is_node_name(text)) return text;
  return wrong(field, text, "the name of a node, or CLUSTER/NAME");
}

Result<std::string> read_namespace(std::string_view field, const std::string& text) {
  if (fabric::is_namespace_name(text)) return text;
  if (text.find('/') != std::string::npos)
    return wrong(field, text, "a namespace, or CLUSTER/NAMESPACE");
  return wrong(field, text, "a namespace: at most 63 lowercase letters, digits and -");
}

Result<std::string> read_word(std::string_view field, const std::string& text, size_t most) {
  if (!text.empty() && text.size() <= most && is_word(text)) return text;
  return wrong(field, text, "1 to " + std::to_string(most) + " printable bytes without spaces");
}

Result<std::string> read_container(std::string_view field, const std::string& text) {
  if (text.find('/') == std::string::npos) return read_word(field, text, kLongestContainer);
  return wrong(field, text, "printable ASCII characters other than '/'");
}

Result<std::string> read_interface(std::string_view field, const std::string& text) {
  const bool path = text == "." || text == ".." || text.find_first_of("/:") != std::string::npos;
  if (!path && !text.empty() && text.size() <= kLongestInterface && is_utf8_word(text)) return text;
  return wrong(field, text, "an interface name of at most 15 bytes of UTF-8");
}

Result<std::string> read_pci(std::string_view field, const std::string& text) {
  const Result<ib::PciAddress> address = ib::PciAddress::parse(text);
  if (!address) return wrong(field, text, "a PCI address, such as 0000:3b:00.2");
  return address->text();
}

Result<std::string> read_partition_name(std::string_view field, const std::string& text) {
  if (ib::is_partition_name(text)) return text;
  return wrong(field, text,
               "a partition name: at most " + std::to_string(ib::kMostPartitionName) +
                   " letters, digits and ._-");
}

Result<ib::Guid> read_guid(std::string_view field, uint64_t value) {
  const ib::Guid guid(value);
  const Status possible = ib::check_port_guid(guid);
  if (!possible) return wrong(field, guid.text(), "a GUID that a port can have");
  return guid;
}

Result<fabric::Membership> read_membership(std::string_view field, const std::string& text) {
  return read_enum(field, text, fabric::parse_membership,
                   list_words(fabric::words_of(fabric::Membership())));
}

Result<fabric::BindingState> read_state(std::string_view field, const std::string& text) {
  return read_enum(field, text, fabric::parse_state,
                   "requested, written, verified, releasing, released or unknown");
}

std::string cleaned(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    clean += length > 0 && !is_control(text) ? text.substr(0, length) : "?";
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

}  // namespace ibpod::fabricapi
