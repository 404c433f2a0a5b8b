#include "tests/support/multus/cache.h"

#include "lib/cni/result.h"
#include "lib/json/read.h"

namespace ibpod::multus {
namespace {

using json::Value;

constexpr const char* kContainer = "containerId";
constexpr const char* kInterface = "ifName";
constexpr const char* kResult = "result";

Result<cni::Attachment> read_attachment(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  cni::Attachment attachment;
  TRY(take(fields, kContainer, attachment.container_id));
  TRY(take(fields, kInterface, attachment.ifname));
  return attachment;
}

}  // namespace

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

// The CNI library's: by the name that the configuration has itself.
Path Cache::result_file(const std::string& container, const Delegate& delegate) const {
  const std::optional<Value> name = delegate.configuration.find("name");
  const std::string text = name && name->is_string() ? name->string().value() : "";
  return folder_ / "results" / (text + "-" + container + "-" + delegate.ifname);
}

Status Cache::write_result(const std::string& container, const Delegate& delegate) const {
  const cni::Version version = TRY(delegate.version());
  const cni::AddResult result = TRY(cni::parse_result(*delegate.result).during(delegate.name));
  TRY(make_folders(folder_ / "results"));
  const Value kept = Value::object()
                         .set(kContainer, container)
                         .set(kInterface, delegate.ifname)
                         .set(kResult, cni::to_json(result, version));
  return write_file_atomically(result_file(container, delegate), kept.text());
}

std::optional<Value> Cache::result(const std::string& container, const Delegate& delegate) const {
  const Result<std::string> text = read_file(result_file(container, delegate));
  const Result<Value> kept = text ? Value::parse(*text) : text.error();
  return kept ? kept->find(kResult) : std::nullopt;
}

Status Cache::remove_result(const std::string& container, const Delegate& delegate) const {
  return remove_file(result_file(container, delegate));
}

Result<std::vector<cni::Attachment>> Cache::attachments() const {
  const Path results = folder_ / "results";
  if (!path_exists(results)) return Error(Code::not_found, "there is no " + results.string());
  const std::vector<std::string> files = TRY(list_folder(results));
  std::vector<cni::Attachment> attachments;
  for (const std::string& file : files) {
    const std::string text = TRY(read_file(results / file));
    const Value kept = TRY(Value::parse(text).during(file));
    const cni::Attachment attachment = TRY(read_attachment(kept));
    attachments.push_back(attachment);
  }
  return attachments;
}

}  // namespace ibpod::multus
