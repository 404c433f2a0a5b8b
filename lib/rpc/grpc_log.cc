#include "lib/rpc/grpc_log.h"

#include <grpc/support/log.h>

namespace ibpod::rpc {

void silence_grpc() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace ibpod::rpc
