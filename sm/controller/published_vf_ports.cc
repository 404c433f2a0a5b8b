#include "sm/controller/published_vf_ports.h"

#include "sm/bindings/vf_ports.h"

#include <utility>

namespace ibpod::sm::controller {

void PublishedVfPorts::publish() {
  if (!subnet_manager_.capabilities().confines_vfs) return;
  const state::Journal& journal = registry_.journal;
  if (changes_ == journal.changes()) return;
  changes_ = journal.changes();
  std::vector<engine::VfPort> ports = bindings::vf_ports(journal.records(), registry_.nodes);
  if (ports == ports_) return;
  ports_ = ports;
  subnet_manager_.set_vf_ports(std::move(ports));
}

}  // namespace ibpod::sm::controller
