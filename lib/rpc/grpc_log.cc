#include "lib/rpc/grpc_log.h"

#include <mutex>
#include <string_view>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

namespace ibpod::rpc {
namespace {

// "Handshake failed with fatal error SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify
// failed."
constexpr std::string_view kFailed = "Handshake failed with fatal error ";

struct Listener {
  std::mutex mutex;
  OnFailedHandshake told;  // guarded by mutex
};

// Never destroyed: threads of gRPC's may outlive main().
Listener& listener() {
  static auto& the_one = *new Listener;
  return the_one;
}

void take(gpr_log_func_args* line) {
  std::string_view text(line->message);
  if (!text.starts_with(kFailed)) return;
  text.remove_prefix(text.rfind(':') + 1);
  while (text.ends_with('.')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::scoped_lock lock(listener().mutex);
  if (listener().told) listener().told(std::string(text));
}

}  // namespace

void silence_grpc() {
  gpr_set_log_function(take);
  google::protobuf::SetLogHandler(nullptr);
}

void on_failed_handshake(OnFailedHandshake callback) {
  const std::scoped_lock lock(listener().mutex);
  listener().told = std::move(callback);
}

}  // namespace ibpod::rpc
