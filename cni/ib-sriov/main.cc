#include "cni/ib-sriov/config.h"
#include "lib/attach/plugin.h"

int main(int, char**, char** environment) {
  return ibpod::attach::run(ibpod::ib_sriov::plugin_kind(),
                            "ibpod ib-sriov " IBPOD_VERSION
                            ": a CNI plugin that gives pods InfiniBand virtual functions.",
                            environment);
}
