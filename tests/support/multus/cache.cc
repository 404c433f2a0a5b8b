#include "tests/support/multus/cache.h"

#include "lib/json/take.h"

namespace ibpod::multus {

using json::Value;

Status Cache::write(const std::string& container, const std::vector<Delegate>& delegates) const {
  TRY(make_folders(folder_));
  Value list = Value::array();
  for (const Delegate& delegate : delegates) list.push(to_json(delegate));
  return write_file_atomically(folder_ / container, list.pretty() + "\n");
}

Result<std::optional<std::vector<Delegate>>> Cache::read(const std::string& container) const {
  const Result<std::string> text = read_file(folder_ / container);
  if (!text && text.error().code() == Code::not_found)
    return std::optional<std::vector<Delegate>>();
  if (!text) return text.error();
  const Value list = TRY(Value::parse(*text).during((folder_ / container).string()));
  std::vector<Delegate> delegates = TRY(json::read_list(list, read_delegate));
  return std::optional(std::move(delegates));
}

Status Cache::remove(const std::string& container) const {
  return remove_file(folder_ / container);
}

Result<std::vector<cni::Attachment>> Cache::attachments() const {
  const std::vector<std::string> containers = TRY(list_folder(folder_));
  std::vector<cni::Attachment> attachments;
  for (const std::string& container : containers) {
    const auto delegates = TRY(read(container));
    if (!delegates) continue;
    for (const Delegate& delegate : *delegates) attachments.push_back({container, delegate.ifname});
  }
  return attachments;
}

}  // namespace ibpod::multus
