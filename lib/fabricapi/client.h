// Client: blocking calls to a cluster's SM service, for ibpodctl and the agents.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/fabricapi/calls.h"

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

// The calls of Fabric; thread-safe. Errors are the service's, after its address; unavailable if
// none answers or the deadline has passed (the error says so if our certificate has expired, as
// gRPC does not); internal if an answer cannot be read.
class Client {
 public:
  // The channel for the next call.
  using Channel = std::function<Result<std::shared_ptr<grpc::Channel>>()>;
  // `server`: the service's name in errors; `fabric` is sent with each request.
  Client(Channel channel, std::string server, std::string fabric = "default");
  // The socket that only root can connect to; each call makes a connection.
  static Client over_unix(const Path& socket, std::string fabric = "default");
  static Client over_tls(std::shared_ptr<rpc::TlsChannel> channel, const std::string& target,
                         std::string fabric = "default");

  // The state of our certificate or token (rpc::TlsChannel::certificate()), and the certificate's
  // expiry; ok and nothing on a unix socket.
  Status certificate() const;
  // Why our certificate cannot make a connection, or our token cannot be read.
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
  // Calls `on_change` on this thread for each present binding and each change. ok() after it has
  // returned false; else why the watch has ended: unavailable at the deadline.
  Status watch_bindings(const BindingFilter& filter,
                        const std::function<bool(const BindingChange&)>& on_change,
                        Deadline deadline);

  Result<SyncAnswer> sync(const SyncRequest& request, Deadline deadline);
  Result<v1::ObserveResponse> observe(const ObserveRequest& request, Deadline deadline);
  Result<std::vector<AllocatedGuid>> allocate_guids(const AllocateRequest& request,
                                                    Deadline deadline);
  Result<v1::ListNodesResponse> list_nodes(Deadline deadline);
  Result<v1::FabricNode> forget_node(const ForgetRequest& request, Deadline deadline);

  Result<v1::PlanResponse> plan(const PlanRequest& request, Deadline deadline);
  Result<Explanation> explain(const ExplainRequest& request, Deadline deadline);
  Result<v1::FabricHealthResponse> health(Deadline deadline);

 private:
  template <typename Request, typename Answer, typename Method, typename Read>
  auto ask(Request request, Method method, Deadline deadline, Read read)
      -> decltype(read(std::declval<const Answer&>()));

  Error reason_of(Error error) const;

  Channel channel_;
  std::string server_, fabric_;
  std::shared_ptr<rpc::TlsChannel> tls_ = {};  // null on a unix socket
};

}  // namespace ibpod::fabricapi
