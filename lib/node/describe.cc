#include "lib/node/describe.h"

namespace ibpod::node {

std::string describe_owner(const Record& record) {
  const PodName& pod = record.pod;
  const std::string who = pod.name.empty() ? "container " + record.container_id
                                           : "pod " + pod.name_space + "/" + pod.name;
  return who + " (" + record.ifname + ")";
}

std::string set_at_boot(nl::RdmaNetnsMode mode) {
  const std::string value = mode == nl::RdmaNetnsMode::exclusive ? "0" : "1";
  return "put \"options ib_core netns_mode=" + value +
         "\" into /etc/modprobe.d/ibpod.conf, rebuild the initramfs and reboot";
}

std::string set_firmware(const ib::PciAddress& pf, const std::string& settings) {
  return "mstconfig -d " + pf.text() + " set " + settings + ", then reboot";
}

std::string infiniband_port(const ib::PciAddress& pf) {
  const int port = pf.text().back() - '0' + 1;
  return "LINK_TYPE_P" + std::to_string(port) + "=1";
}

}  // namespace ibpod::node
