#include "cni/ipoib/plugin.h"
#include "lib/attach/program.h"

int main(int, char**, char** environment) {
  using namespace ibpod;
  return attach::run(
      "ipoib " IBPOD_VERSION
      ": a CNI plugin that gives pods IP over InfiniBand, without a function of their own.\n"
      "A container runtime or Multus calls it with CNI_COMMAND and a "
      "configuration on standard input.\n",
      [](attach::World world, log::Log& log) {
        return std::make_unique<ipoib::Ipoib>(std::move(world), log);
      },
      environment);
}
