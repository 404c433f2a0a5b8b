#include "sm/registry/names.h"

#include "lib/base/utf8.h"
#include "lib/fabric/partition_definition.h"
#include "lib/ib/pci_address.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::registry {
namespace {

constexpr size_t kMostName = 253;      // a DNS subdomain (RFC 1123): nodes, pods
constexpr size_t kMostNamespace = 63;  // a DNS label
constexpr size_t kMostContainer = 256;
constexpr size_t kMostInterface = 15;  // IFNAMSIZ without the end
constexpr size_t kMostUid = 128;

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
  if (text.size() <= kMostInterface && is_utf8_word(text) && text.find('/') == text.npos)
    return ok();
  return Error(Code::invalid, name + " is not a valid interface name: expected at most " +
                                  std::to_string(kMostInterface) + " bytes of UTF-8 without '/'");
}

Status check_optional(std::string_view field, std::string_view text, size_t most) {
  return text.empty() ? ok() : check_word(field, text, most);
}

Status check(const fabric::Pod& pod) {
  TRY(check_word("the pod's namespace", pod.name_space, kMostNamespace));
  TRY(check_optional("the pod's name", pod.name, kMostName));
  return check_optional("the pod's uid", pod.uid, kMostUid);
}

Status check_requested(const std::vector<fabricapi::BindRequest::PartitionRequest>& requested,
                       size_t most) {
  if (requested.empty()) return Error(Code::invalid, "partitions: expected at least one");
  if (requested.size() > most)
    return Error(Code::invalid, "partitions: " + std::to_string(requested.size()) +
                                    ", expected at most " + std::to_string(most));
  std::set<std::string_view> seen;
  for (const fabricapi::BindRequest::PartitionRequest& wish : requested) {
    if (wish.pkey && wish.partition.empty()) continue;  // it has no name yet
    TRY(check_word("partition", wish.partition, fabric::kMostName));
    if (!seen.insert(wish.partition).second)
      return Error(Code::invalid, "partition " + wish.partition + " is listed twice");
  }
  return ok();
}

}  // namespace

Status check_node(std::string_view name) { return check_word("node", name, kMostName); }

Status check(const fabric::Attachment& attachment) {
  TRY(check_node(attachment.node));
  TRY(check_word("container", attachment.container, kMostContainer));
  return check_interface("interface", attachment.interface);
}

Status check(const fabricapi::BindRequest& request, size_t max_memberships) {
  TRY(check(request.attachment));
  TRY(ib::check_port_guid(request.guid).during("guid"));
  if (request.guid_requested && request.kind != fabric::Kind::vf)
    return Error(Code::invalid,
                 "chosen: only a VF can request a GUID; a child has the GUID of its PF");
  if (!request.pf.empty()) TRY(check_interface("pf", request.pf));
  if (!request.device.empty()) TRY(ib::PciAddress::parse(request.device).during("device"));
  TRY(check(request.pod));
  return check_requested(request.partitions, max_memberships);
}

std::string key_of(const fabric::Attachment& attachment) { return text(attachment); }

Result<fabric::Attachment> attachment_of(std::string_view key) {
  const size_t first = key.find('/');
  const size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
  if (second == std::string_view::npos)
    return Error(Code::invalid, "expected NODE/CONTAINER/INTERFACE");
  fabric::Attachment attachment{std::string(key.substr(0, first)),
                                std::string(key.substr(first + 1, second - first - 1)),
                                std::string(key.substr(second + 1))};
  TRY(check(attachment));
  return attachment;
}

}  // namespace ibpod::sm::registry
