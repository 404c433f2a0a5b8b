#include "lib/rpc/peer.h"

#include <algorithm>
#include <memory>

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>

namespace ibpod::rpc {
namespace {

std::vector<std::string> values(const grpc::AuthContext& context, const char* property) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(property))
    values.emplace_back(value.data(), value.size());
  return values;
}

bool printable(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void add_names(Peer& peer, const std::string& kind, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (printable(name)) peer.names.push_back(kind + name);
}

std::string authorization_of(const grpc::ServerContextBase& context) {
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  std::string all;
  for (auto one = first; one != last; ++one) {
    if (one != first) all += ",";
    all.append(one->second.data(), one->second.size());
  }
  return all;
}

}  // namespace

Peer peer_of(const grpc::ServerContextBase& context) {
  Peer peer;
  const std::shared_ptr<const grpc::AuthContext> proof = context.auth_context();
  const std::vector<std::string> transport =
      proof == nullptr ? std::vector<std::string>()
                       : values(*proof, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  if (transport == std::vector<std::string>{GRPC_SSL_TRANSPORT_SECURITY_TYPE}) {
    peer.authorization = authorization_of(context);
    if (!proof->IsPeerAuthenticated()) {
      peer.connection = context.peer();
      return peer;
    }
    const std::vector<std::string> name = values(*proof, GRPC_X509_CN_PROPERTY_NAME);
    if (name.size() == 1 && printable(name.front())) peer.common_name = name.front();
    add_names(peer, "DNS=", values(*proof, GRPC_PEER_DNS_PROPERTY_NAME));
    add_names(peer, "URI=", values(*proof, GRPC_PEER_URI_PROPERTY_NAME));
    return peer;
  }
  // A descriptor that was given to gRPC without TLS: Server does so, and only for root's sockets.
  peer.local = transport.empty() && context.peer().starts_with("fd:");
  return peer;
}

}  // namespace ibpod::rpc
