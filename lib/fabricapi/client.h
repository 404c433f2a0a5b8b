// Client: blocking calls over the wire to a cluster's SM service, for ibpodctl and the agents.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/fabricapi/fabric.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace grpc {
class Channel;
}
namespace ibpod::rpc {
class TlsChannel;
}

namespace ibpod::fabricapi {

// The calls of Fabric. From any thread. Errors are the service's own, with its address in front;
// unavailable if no service answers, or if the deadline has passed. An answer that cannot be read
// is internal, and no part of it is used. If no service answers and our own certificate has
// expired, the error says so: gRPC reports only a deadline, or a closed socket.
class Client {
 public:
  // The channel for the next call.
  using Channel = std::function<Result<std::shared_ptr<grpc::Channel>>()>;
  // `server` is the name of the other side in errors; `fabric` is sent with each request.
  Client(Channel channel, std::string server, std::string fabric = "default");
  // The socket that only root can connect to; a connection for each call.
  static Client over_unix(const Path& socket, std::string fabric = "default");
  static Client over_tls(std::shared_ptr<rpc::TlsChannel> channel, const std::string& target,
                         std::string fabric = "default");

  // How our own certificate is now (rpc::TlsChannel::certificate()), and its end; ok and nothing
  // over a socket of this machine.
  Status certificate() const;
  // Why no connection can be made with it.
  Status certificate_usable() const;
  std::optional<std::chrono::system_clock::time_point> certificate_expires() const;

  Result<fabric::PartitionStatus> create_partition(const fabric::Partition& partition,
                                                   Deadline deadline);
  Result<fabric::PartitionStatus> update_partition(const fabric::Partition& partition,
                                                   Deadline deadline);
  Result<fabric::PartitionStatus> delete_partition(const std::string& name, Deadline deadline,
                                                   bool forget_ports = false);
  Result<ListPage<fabric::PartitionStatus>> list_partitions(const PageRequest& page,
                                                            Deadline deadline);

  Result<fabric::Binding> bind(const BindRequest& request, Deadline deadline);
  Result<fabric::Binding> unbind(const fabric::Attachment& attachment, Deadline deadline);
  Result<fabric::Binding> get_binding(const fabric::Attachment& attachment, Deadline deadline);
  Result<ListPage<fabric::Binding>> list_bindings(const BindingFilter& filter,
                                                  const PageRequest& page, Deadline deadline);
  // `on_change` runs here for each binding as it is now and for each change. ok() when it has
  // returned false; else why the watch has ended: unavailable at the deadline, too.
  Status watch_bindings(const BindingFilter& filter,
                        const std::function<bool(const BindingChange&)>& on_change,
                        Deadline deadline);

  Result<SyncAnswer> sync(const SyncRequest& request, Deadline deadline);
  Result<ObserveAnswer> observe(const ObserveRequest& request, Deadline deadline);
  Result<std::vector<AllocatedGuid>> allocate_guids(const AllocateRequest& request,
                                                    Deadline deadline);
  Result<std::vector<Node>> list_nodes(Deadline deadline);
  Result<Node> forget_node(const ForgetRequest& request, Deadline deadline);

  Result<Plan> plan(const PlanRequest& request, Deadline deadline);
  Result<Explanation> explain(const ExplainRequest& request, Deadline deadline);
  Result<FabricHealth> health(Deadline deadline);

 private:
  template <typename Request, typename Answer, typename Method, typename Read>
  auto ask(Request request, Method method, Deadline deadline, Read read)
      -> decltype(read(std::declval<const Answer&>()));

  Error reason_of(Error error) const;

  Channel channel_;
  std::string server_, fabric_;
  std::shared_ptr<rpc::TlsChannel> tls_ = {};  // null: over a socket
};

}  // namespace ibpod::fabricapi
