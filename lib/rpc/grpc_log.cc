#include "lib/rpc/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

namespace ibpod::rpc {

void silence_grpc() {
  gpr_set_log_function([](gpr_log_func_args*) {});
  google::protobuf::SetLogHandler(nullptr);
}

}  // namespace ibpod::rpc
