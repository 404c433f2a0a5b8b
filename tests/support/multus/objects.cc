#include "tests/support/multus/objects.h"

namespace ibpod::multus {
namespace {

using json::Value;

constexpr const char* kNetworks = "k8s.v1.cni.cncf.io/networks";
constexpr const char* kDefault = "v1.multus-cni.io/default-network";
constexpr const char* kStatus = "k8s.v1.cni.cncf.io/network-status";
constexpr const char* kResource = "k8s.v1.cni.cncf.io/resourceName";

Result<std::optional<Value>> read_object(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() == Code::not_found) return std::optional<Value>();
  if (!text) return text.error();
  const Value object = TRY(Value::parse(*text).during(file.string()));
  return std::optional(object);
}

Value member(const Value& object, const char* key) {
  return object.find(key).value_or(Value::object());
}

std::string text_of(const Value& object, const char* key) {
  const std::optional<Value> value = object.find(key);
  return value && value->is_string() ? value->string().value() : "";
}

std::string annotation(const Value& object, const char* key) {
  return text_of(member(member(object, "metadata"), "annotations"), key);
}

}  // namespace

Path Objects::pod_file(const std::string& name_space, const std::string& name) const {
  return folder_ / "api/v1/namespaces" / name_space / "pods" / name;
}

Result<std::optional<Pod>> Objects::pod(const std::string& name_space,
                                        const std::string& name) const {
  const std::optional<Value> object = TRY(read_object(pod_file(name_space, name)));
  if (!object) return std::optional<Pod>();
  const std::string uid = text_of(member(*object, "metadata"), "uid");
  return std::optional(
      Pod{name, name_space, uid, annotation(*object, kNetworks), annotation(*object, kDefault)});
}

Result<Network> Objects::network(const std::string& name_space, const std::string& name) const {
  const Path file = folder_ / "apis/k8s.cni.cncf.io/v1/namespaces" / name_space /
                    "network-attachment-definitions" / name;
  const std::optional<Value> object = TRY(read_object(file));
  if (!object)
    return Error(Code::not_found,
                 "there is no NetworkAttachmentDefinition " + name_space + "/" + name);
  const std::string text = text_of(member(*object, "spec"), "config");
  Value configuration = TRY(Value::parse(text).during(name_space + "/" + name + ": spec.config"));
  if (text_of(configuration, "name").empty()) configuration.set("name", name);
  return Network{std::move(configuration), annotation(*object, kResource)};
}

Status Objects::write_status(const Pod& pod, const Value& networks) const {
  const Path file = pod_file(pod.name_space, pod.name);
  std::optional<Value> object = TRY(read_object(file));
  if (!object) return Error(Code::not_found, "the pod " + pod.name + " has been deleted");
  Value metadata = member(*object, "metadata");
  Value annotations = member(metadata, "annotations");
  annotations.set(kStatus, networks.pretty());
  metadata.set("annotations", annotations);
  return write_file_atomically(file, object->set("metadata", metadata).pretty() + "\n");
}

}  // namespace ibpod::multus
