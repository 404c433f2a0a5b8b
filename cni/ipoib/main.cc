#include "cni/ipoib/config.h"
#include "lib/attach/plugin.h"

int main(int, char**, char** environment) {
  return ibpod::attach::run(
      ibpod::ipoib::plugin_kind(),
      "ibpod ipoib " IBPOD_VERSION
      ": a CNI plugin that gives pods IP over InfiniBand, without a function of their own.",
      environment);
}
