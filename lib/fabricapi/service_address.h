// ServiceAddress: where an SM service answers, and who we are to it.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/rpc/tls_files.h"

#include <string>
#include <string_view>

namespace ibpod::fabricapi {

struct ServiceAddress {
  std::string address;  // unix:PATH, or HOST:PORT, an IPv6 host in brackets
  rpc::TlsFiles files;  // for HOST:PORT
  std::string fabric = "default";
  bool operator==(const ServiceAddress&) const = default;
};

// invalid where it is neither.
Status check_address(std::string_view address);
// It is asked over TLS, which needs the files.
bool needs_files(std::string_view address);

// invalid or not_found if the address is none, or if the files cannot be used. A service that does
// not answer is reported by the first call.
Result<Client> client_of(const ServiceAddress& address);
// The same for a program that goes on while the files cannot be used: each call is unavailable
// then, saying why, and the first one after their renewal uses them.
Result<Client> lasting_client_of(const ServiceAddress& address);

}  // namespace ibpod::fabricapi
