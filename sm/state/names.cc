#include "sm/state/names.h"

#include "lib/base/dns_name.h"
#include "lib/base/utf8.h"
#include "lib/fabric/cluster_names.h"
#include "lib/fabricapi/fields.h"

#include <algorithm>

namespace ibpod::sm::state {
namespace {

constexpr size_t kMostName = 253;  // a DNS subdomain (RFC 1123)

bool plain(char c) { return c > ' ' && c <= '~' && c != '/'; }

Status check_word(std::string_view field, std::string_view text, size_t most) {
  const std::string name(field);
  if (text.empty()) return Error(Code::invalid, name + " is missing");
  if (text.size() > most)
    return Error(Code::invalid, name + " has " + std::to_string(text.size()) +
                                    " bytes: expected at most " + std::to_string(most));
  if (std::all_of(text.begin(), text.end(), plain)) return ok();
  return Error(Code::invalid, name + ": expected printable ASCII characters other than '/'");
}

// Linux allows any bytes but '/' and spaces in the name of an interface.
Status check_interface(std::string_view field, std::string_view text) {
  const std::string name(field);
  if (text.empty()) return Error(Code::invalid, name + " is missing");
  if (text.size() <= fabricapi::kLongestInterface && is_utf8_word(text) &&
      text.find('/') == text.npos)
    return ok();
  return Error(Code::invalid, name + " is not a valid interface name: expected at most " +
                                  std::to_string(fabricapi::kLongestInterface) +
                                  " bytes of UTF-8 without '/'");
}

}  // namespace

Status check_node(std::string_view name) {
  const std::string cluster(fabric::cluster_of(name));
  if (name.find('/') != name.npos && !is_dns_label(cluster))
    return Error(Code::invalid, "node: expected a cluster before the '/', got \"" +
                                    cluster.substr(0, kMostName) + "\"");
  return check_word("node", fabric::name_in_cluster(name), kMostName);
}

Status check(const fabric::Attachment& attachment) {
  TRY(check_node(attachment.node));
  TRY(check_word("container", attachment.container, fabricapi::kLongestContainer));
  return check_interface("interface", attachment.interface);
}

std::string key_of(const fabric::Attachment& attachment) { return text(attachment); }

Result<fabric::Attachment> attachment_of(std::string_view key) {
  const size_t second = key.rfind('/');
  const size_t first = second == key.npos || second == 0 ? key.npos : key.rfind('/', second - 1);
  if (first == key.npos) return Error(Code::invalid, "expected NODE/CONTAINER/INTERFACE");
  fabric::Attachment attachment{std::string(key.substr(0, first)),
                                std::string(key.substr(first + 1, second - first - 1)),
                                std::string(key.substr(second + 1))};
  TRY(check(attachment));
  return attachment;
}

size_t size_of(const fabricapi::PageRequest& page) {
  constexpr uint32_t kMostListed = 1000;
  return page.size == 0 ? kMostListed : std::min(page.size, kMostListed);
}

}  // namespace ibpod::sm::state
