#include "lib/rpc/status.h"

#include "lib/rpc/codes.h"

namespace ibpod::rpc {
namespace {

constexpr size_t kLongest = 2000;

}  // namespace

grpc::Status to_grpc(const Error& error) {
  std::string message = error.text();
  if (!error.details().empty()) message += "\n" + error.details();
  if (message.size() > kLongest) message.resize(kLongest);
  return {static_cast<grpc::StatusCode>(number_of(error.code())), message};
}

Status from_grpc(const grpc::Status& status) {
  return status_of(status.error_code(), status.error_message());
}

}  // namespace ibpod::rpc
