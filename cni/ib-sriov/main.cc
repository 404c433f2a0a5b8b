#include "cni/ib-sriov/plugin.h"
#include "lib/attach/program.h"

int main(int, char**, char** environment) {
  using namespace ibpod;
  return attach::run(
      "ib-sriov " IBPOD_VERSION
      ": a CNI plugin that gives pods InfiniBand virtual functions.\n"
      "A container runtime or Multus calls it with CNI_COMMAND and a "
      "configuration on standard input.\n",
      [](attach::World world, log::Log& log) {
        return std::make_unique<ib_sriov::IbSriov>(std::move(world), log);
      },
      environment);
}
