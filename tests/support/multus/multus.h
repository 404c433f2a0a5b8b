// Multus: the stand-in for the CNI plugin that calls others, several for one pod: the cluster's own
// network, then those that the pod's annotation asks for. It does what the real one (thin, version
// 4) does with networks of InfiniBand, and takes its configuration, with these keys more, as it has
// no API server:
//   objects        the folder of pods and networks (objects.h); without it only its delegates are
//                  called
//   kubeletRoot    /var/lib/kubelet
//   deviceInfoDir  /var/run/k8s.cni.cncf.io/devinfo
// All its errors have the number 999, whatever number a plugin gave.
#pragma once

#include "lib/cni/plugin.h"
#include "lib/json/value.h"
#include "tests/support/multus/cache.h"
#include "tests/support/multus/caller.h"
#include "tests/support/multus/delegate.h"
#include "tests/support/multus/device_info.h"
#include "tests/support/multus/objects.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::multus {

// True if the network namespace has an interface of that name.
using HasInterface = std::function<Result<bool>(const Path& netns, const std::string& ifname)>;

inline constexpr int kMultusError = 999;

struct Config {
  Path programs = "/opt/cni/bin";
  Path cache = "/var/lib/cni/multus";
  Path kubelet = "/var/lib/kubelet";
  Path device_info = "/var/run/k8s.cni.cncf.io/devinfo";
  Path objects;
  std::string name_space = "kube-system";  // multusNamespace: of default networks
  json::Value delegates = json::Value::array();
};
Result<Config> parse_config(const json::Value& document);

class Multus : public cni::Plugin {
 public:
  explicit Multus(HasInterface has_interface) : has_interface_(std::move(has_interface)) {}

  void prepare(const cni::Call&, const json::Value&) override {}
  Status configure(const cni::Call& call, const cni::Network& network) override;
  Result<cni::AddResult> add() override;
  Status del() override;
  // These three concern what is configured, and no pod's networks: STATUS and GC the first of them.
  Status check() override;
  // An error before any ADD.
  Status gc() override;
  Status status() override;

 private:
  using Delegates = std::vector<Delegate>;
  Result<std::optional<Pod>> find_pod() const;
  Result<Delegates> delegates_of(const std::optional<Pod>& pod) const;
  Result<Delegates> networks_of(const Pod& pod, const std::vector<Selection>& selections,
                                size_t before) const;
  Status replace_default(const Pod& pod, Delegates& delegates) const;
  Result<cni::AddResult> add_all();
  Error failed(const Delegate& delegate, const Error& error) const;
  Result<std::optional<Delegates>> remembered() const;
  Status call(Delegate& delegate) const;
  Status end(const Delegates& delegates, size_t number) const;
  Status write_status(const Pod& pod, const Delegates& delegates) const;

  HasInterface has_interface_;
  cni::Call call_;
  Config config_;
};

}  // namespace ibpod::multus
