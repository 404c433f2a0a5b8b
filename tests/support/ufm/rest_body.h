// The bodies of requests about P_Keys.
#pragma once

#include "tests/support/ufm/call.h"

#include <string>

namespace ibpod::fake_ufm {

// `operation`: one with a body. invalid, in UFM's words, for what it answers 400.
Result<Call> read_body(Operation operation, const std::string& body);

// The body of POST /resources/pkeys/hosts, which has names for GUIDs.
struct HostsBody {
  Call call;
  std::vector<std::string> hosts;
};
Result<HostsBody> read_hosts_body(const std::string& body);

}  // namespace ibpod::fake_ufm
