#include "cni/ib-sriov/ib_sriov.h"
#include "lib/attach/program.h"

int main(int, char**, char** environment) {
  return ibpod::attach::run<ibpod::ib_sriov::IbSriov>(
      "ibpod ib-sriov " IBPOD_VERSION
      ": a CNI plugin that gives pods InfiniBand virtual functions.",
      environment);
}
