#include "lib/rpc/channel.h"

#include "lib/rpc/unix_address.h"

#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/support/channel_arguments.h>

namespace ibpod::rpc {

Result<std::shared_ptr<grpc::Channel>> connect_unix(const Path& socket) {
  const Fd connection = TRY(connect_socket(socket));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  arguments.SetMaxSendMessageSize(-1);  // what the other side takes is its own business
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  // gRPC closes it from here on, so it gets a descriptor of its own.
  const int own = TRY(sys("dup", [&] { return ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 3); }));
  return grpc::CreateCustomInsecureChannelFromFd(socket.string(), own, arguments);
}

void set_deadline(grpc::ClientContext& context, Deadline deadline) {
  // On the monotonic clock: a deadline does not move when the time of day is set.
  const gpr_timespec left = gpr_time_from_millis(deadline.left().count(), GPR_TIMESPAN);
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), left));
}

}  // namespace ibpod::rpc
