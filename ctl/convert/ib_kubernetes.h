// IbKubernetes: the configuration of ib-kubernetes, as its daemon and its plugin for UFM read it.
#pragma once

#include "ctl/convert/variables.h"
#include "lib/base/result.h"
#include "sm/pool/guid_pool.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ibpod::ctl::convert {

struct IbKubernetes {
  std::string host;           // of UFM, as a URL has it: an IPv6 address is in brackets
  uint16_t port = 443;        // of UFM's HTTPS
  std::string user;           // UTF-8 without colons and control characters
  std::string password;       // not empty, without control characters
  std::string certificate;    // PEM; empty: ib-kubernetes verifies no certificate
  sm::pool::GuidRange guids;  // its pool, which GuidPool::make may refuse
  // Settings that are not converted or not safe, each with what to do.
  std::vector<std::string> warnings;
};

// True for a variable that ib-kubernetes reads.
bool is_of_ib_kubernetes(const std::string& name);

// An empty variable counts as missing, as ib-kubernetes has it. invalid with all errors: each names
// the variable, what would be right, and the value unless that is a secret. An unknown variable is
// an error if its name begins as those of ib-kubernetes do, else a warning.
Result<IbKubernetes> read_ib_kubernetes(const Variables& variables);

}  // namespace ibpod::ctl::convert
