// ServiceAddress: the address of an SM service, and our TLS files for it.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/rpc/tls_files.h"

#include <string>
#include <string_view>

namespace ibpod::fabricapi {

struct ServiceAddress {
  std::string address;  // unix:PATH, or HOST:PORT with an IPv6 host in brackets
  rpc::TlsFiles files;  // for HOST:PORT
  std::string fabric = "default";
  // The file of the token that each call carries, to HOST:PORT only, if `files` has a CA alone;
  // empty: none.
  Path token = {};
  bool operator==(const ServiceAddress&) const = default;
};

// invalid if it has neither form.
Status check_address(std::string_view address);
// True if it uses TLS, which needs the files.
bool needs_files(std::string_view address);

// invalid or not_found if the address is invalid, if it is a socket and there is a token, or if the
// files cannot be used. If the service
// does not answer, the first call reports that.
Result<Client> client_of(const ServiceAddress& address);
// client_of() for a program that continues while the files cannot be used: each call is then
// unavailable, with the reason, and the first call after their renewal uses them.
Result<Client> lasting_client_of(const ServiceAddress& address);

}  // namespace ibpod::fabricapi
