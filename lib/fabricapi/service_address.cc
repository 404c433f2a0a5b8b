#include "lib/fabricapi/service_address.h"

#include "lib/rpc/tls_channel.h"

#include <charconv>

namespace ibpod::fabricapi {
namespace {

constexpr std::string_view kUnix = "unix:";

// A name or an address; an IPv6 address is in brackets, as its end would be taken for the port.
bool is_host(std::string_view text) {
  const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (bracketed) text = text.substr(1, text.size() - 2);
  return !text.empty() && text.find_first_of(bracketed ? "[]" : "[]:") == text.npos;
}

bool is_port(std::string_view text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stop == end && port > 0;
}

bool is_host_and_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon != text.npos && is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1));
}

// gRPC, too, refuses to send a token over a channel without TLS, but only when a call is made.
Result<Client> over_unix(const ServiceAddress& address) {
  if (address.token.empty())
    return Client::over_unix(address.address.substr(kUnix.size()), address.fabric);
  return Error(Code::invalid, "a token is sent over TLS only: expected HOST:PORT, got \"" +
                                  address.address + "\"");
}

rpc::TlsChannel::Settings settings_of(const ServiceAddress& address) {
  return {.target = address.address, .files = address.files, .token = address.token};
}

}  // namespace

Status check_address(std::string_view address) {
  const std::string got = ", got \"" + std::string(address) + "\"";
  if (address.starts_with(kUnix)) {
    if (Path(address.substr(kUnix.size())).is_absolute()) return ok();
    return Error(Code::invalid, "expected an absolute path after unix:" + got);
  }
  if (is_host_and_port(address)) return ok();
  return Error(Code::invalid, "expected unix:PATH or HOST:PORT" + got);
}

bool needs_files(std::string_view address) { return !address.starts_with(kUnix); }

Result<Client> client_of(const ServiceAddress& address) {
  TRY(check_address(address.address));
  if (!needs_files(address.address)) return over_unix(address);
  std::shared_ptr<rpc::TlsChannel> channel = TRY(rpc::TlsChannel::open(settings_of(address)));
  return Client::over_tls(std::move(channel), address.address, address.fabric);
}

Result<Client> lasting_client_of(const ServiceAddress& address) {
  TRY(check_address(address.address));
  if (!needs_files(address.address)) return over_unix(address);
  return Client::over_tls(rpc::TlsChannel::follow(settings_of(address)), address.address,
                          address.fabric);
}

}  // namespace ibpod::fabricapi
