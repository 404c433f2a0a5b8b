// For any message of the kubelet or the container runtime: the parsed values are those in it. The
// first byte chooses the message.
#include "lib/base/resource_name.h"
#include "lib/kube/messages.h"
#include "tests/support/fuzz.h"

#include <array>

namespace ibpod::kube {
namespace {

using fuzz::require;

template <typename Message>
std::optional<Message> parse(const uint8_t* data, size_t size) {
  Message message;
  if (message.ParseFromArray(data, static_cast<int>(size))) return message;
  return std::nullopt;
}

void check_pods(const uint8_t* data, size_t size) {
  const auto message = parse<v1::ListPodResourcesResponse>(data, size);
  if (!message) return;
  const auto pods = pods_of(*message);
  require(pods.has_value() == (message->pod_resources_size() != 0));
  for (int n = 0; n < message->pod_resources_size(); ++n) {
    const v1::PodResources& said = message->pod_resources(n);
    const PodDevices& pod = pods->at(static_cast<size_t>(n));
    require(pod.name == said.name() && pod.namespace_name == said.namespace_());
    require(pod.containers.size() == static_cast<size_t>(said.containers_size()));
  }
}

void check_sandboxes(const uint8_t* data, size_t size) {
  const auto message = parse<runtime::v1::ListPodSandboxResponse>(data, size);
  if (!message) return;
  const std::vector<std::string> ready = ready_sandboxes_of(*message);
  const auto is_ready = [](const auto& one) { return one.state() == runtime::v1::SANDBOX_READY; };
  const auto& items = message->items();
  require(ready.size() == static_cast<size_t>(std::count_if(items.begin(), items.end(), is_ready)));
}

// For any devices: the kubelet gets each once, sorted, or nothing of the list.
void check_list(const uint8_t* data, size_t size) {
  const auto message = parse<v1beta1::ListAndWatchResponse>(data, size);
  if (!message) return;
  std::vector<Device> devices;
  for (const v1beta1::Device& one : message->devices())
    devices.push_back({one.id(), one.health() == "Healthy"});
  const auto list = list_message(devices);
  if (!list) return fuzz::check_refusal(list.error(), size);
  for (int n = 0; n < list->devices_size(); ++n) {
    require(!list->devices(n).id().empty() && list->devices(n).id().size() <= 63);
    require(n == 0 || list->devices(n - 1).id() < list->devices(n).id());
  }
}

void check_name(const uint8_t* data, size_t size) {
  const std::string name(fuzz::text_of(data, size));
  const Status status = check_resource(name);
  if (!status) return fuzz::check_refusal(status.error(), size);
  require(std::count(name.begin(), name.end(), '/') == 1);
  require(std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; }));
}

// The corpus goes by the order: what is new comes last.
using Check = void (*)(const uint8_t*, size_t);
constexpr std::array<Check, 4> kChecks{check_pods, check_sandboxes, check_list, check_name};

}  // namespace
}  // namespace ibpod::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod::kube;
  if (size > 0) kChecks[data[0] % kChecks.size()](data + 1, size - 1);
  return 0;
}
