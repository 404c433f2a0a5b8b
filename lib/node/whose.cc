#include "lib/node/whose.h"

namespace ibpod::node {

std::string describe_owner(const Record& record) {
  const PodName& pod = record.pod;
  const std::string who = pod.name.empty() ? "container " + record.container_id
                                           : "pod " + pod.name_space + "/" + pod.name;
  return who + " (" + record.ifname + ")";
}

}  // namespace ibpod::node
