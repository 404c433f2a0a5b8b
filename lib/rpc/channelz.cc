#include "lib/rpc/channelz.h"

#include "lib/json/value.h"

#include <charconv>
#include <memory>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <openssl/evp.h>

namespace ibpod::rpc {
namespace {

constexpr intptr_t kAtOnce = 500;
// If two connections begin at the same time, the larger number may be reported first.
constexpr Channelz::Id kLate = 256;

// The JSON that gRPC returned, parsed; nothing: it knows no such object.
std::optional<json::Value> told(char* text) {
  const std::unique_ptr<char, decltype(&gpr_free)> owned(text, &gpr_free);
  if (text == nullptr) return std::nullopt;
  auto value = json::Value::parse(text);
  if (!value) return std::nullopt;
  return std::move(value).value();
}

std::optional<json::Value> at(const std::optional<json::Value>& value, std::string_view key) {
  return value ? value->find(key) : std::nullopt;
}

std::string text_at(const std::optional<json::Value>& value, std::string_view key) {
  const auto member = at(value, key);
  const auto text = member ? member->string() : Result<std::string>(std::string());
  return text ? *text : std::string();
}

// Numbers of 64 bits are text, and left out where they are 0.
uint64_t number_at(const std::optional<json::Value>& value, std::string_view key) {
  const std::string text = text_at(value, key);
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<json::Value> elements_at(const std::optional<json::Value>& value,
                                     std::string_view key) {
  const auto member = at(value, key);
  if (!member) return {};
  auto elements = member->elements();
  return elements ? std::move(elements).value() : std::vector<json::Value>();
}

std::string decoded(const std::string& base64) {
  std::string bytes(base64.size() / 4 * 3 + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(base64.data()),
                                   static_cast<int>(base64.size()));
  const size_t padding = base64.ends_with("==") ? 2 : base64.ends_with("=") ? 1 : 0;
  bytes.resize(size < 0 ? 0 : static_cast<size_t>(size) - padding);
  return bytes;
}

std::optional<Channelz::Socket> socket_of(Channelz::Id server, Channelz::Id id) {
  const auto socket = at(told(grpc_channelz_get_socket(id)), "socket");
  const auto address = at(at(socket, "remote"), "tcpip_address");
  const auto port = at(address, "port");
  if (!port) return std::nullopt;
  const auto number = port->integer(0, 65535);
  if (!number) return std::nullopt;
  return Channelz::Socket{
      id,
      server,
      {decoded(text_at(address, "ip_address")), static_cast<uint16_t>(*number)},
      decoded(text_at(at(at(socket, "security"), "tls"), "remote_certificate"))};
}

}  // namespace

Channelz::Channelz() {
  for (const json::Value& server : elements_at(told(grpc_channelz_get_servers(0)), "server"))
    servers_.push_back(static_cast<Id>(number_at(server.find("ref"), "serverId")));
}

std::vector<Channelz::Socket> Channelz::new_sockets() {
  std::vector<Socket> sockets;
  const Id from = known_.empty() ? 0 : *known_.begin();
  for (const Id server : servers_) {
    const auto page = told(grpc_channelz_get_server_sockets(server, from, kAtOnce));
    for (const json::Value& one : elements_at(page, "socketRef")) {
      const auto id = static_cast<Id>(number_at(one, "socketId"));
      if (!known_.insert(id).second) continue;
      if (auto socket = socket_of(server, id)) sockets.push_back(std::move(*socket));
    }
  }
  while (!known_.empty() && *known_.begin() + kLate < *known_.rbegin())
    known_.erase(known_.begin());
  return sockets;
}

std::optional<Channelz::Counts> Channelz::counts(Id socket) const {
  const auto data = at(at(told(grpc_channelz_get_socket(socket)), "socket"), "data");
  if (!data) return std::nullopt;
  return Counts{number_at(data, "streamsStarted"),
                number_at(data, "streamsSucceeded") + number_at(data, "streamsFailed"),
                number_at(data, "messagesReceived")};
}

}  // namespace ibpod::rpc
