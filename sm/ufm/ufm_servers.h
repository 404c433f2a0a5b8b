// UfmServers: the addresses of one UFM, of which one is the master.
#pragma once

#include "lib/base/result.h"
#include "lib/https/exchange.h"
#include "sm/ufm/credentials.h"
#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::ufm {

inline constexpr size_t kMostListBytes = 64 << 20;

// A call of REST, for any of the addresses.
struct RestCall {
  std::string method;
  std::string path;  // below /ufmRest: "/resources/pkeys"
  std::string body = {};
  size_t most_bytes = https::kMostErrorBytes;
};

class UfmServers {
 public:
  // Gets the answers with a status of success, and those with 404, 405 and 410. Its error
  // unavailable means that the answer is not UFM's.
  using Reader = std::function<Status(const https::Answer&)>;

  explicit UfmServers(const ClientSettings& settings);

  // Sends the call to the master. An address is taken for the master after it has answered with a
  // list of P_Keys, until a call of it is unavailable; then all others are tried, each once. A
  // change is unavailable if that has found a master: its partitions may be other ones than the
  // change was made for. The error names each address that was tried. It is denied if one of them
  // denied, for it may be the master.
  Status call(const RestCall& call, const Reader& read);

  // Reached by the last call(). An address that answers, but not as the master, is a standby's only
  // if there are several.
  Peer peer() const {
    return peer_ == Peer::standby && addresses_.size() == 1 ? Peer::none : peer_;
  }
  // See UfmApi.
  uint64_t master_generation() const { return generation_; }
  // From any thread: see UfmApi.
  void cancel() { exchange_.cancel(); }

  // The error of each address that denied us in the last search which found a master elsewhere.
  const std::vector<std::string>& denials() const { return denials_; }

 private:
  // The files as they are for one call.
  struct Access {
    https::Identity identity;
    std::string ca;
  };
  Result<Access> read_files() const;
  Status confirm(size_t at, const Access& access);
  Status ask(size_t at, const RestCall& call, const Reader& read, const Access& access);
  Error failure(const std::vector<Error>& errors) const;

  std::vector<std::string> addresses_;
  Credentials credentials_;
  Path ca_;
  Duration timeout_;
  https::Exchange exchange_;
  size_t current_ = 0;
  bool confirmed_ = false;  // the current one is the master, as far as we know
  uint64_t generation_ = 0;
  std::optional<size_t> master_;  // the last one, until a call of it is unavailable
  std::vector<std::string> denials_;
  Peer peer_ = Peer::none;
};

}  // namespace ibpod::sm::ufm
