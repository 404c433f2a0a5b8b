// Exchange: one HTTPS request and its answer, by libcurl.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/https/identity.h"

#include <atomic>
#include <memory>
#include <string>

namespace ibpod::https {

inline constexpr size_t kMostErrorBytes = 64 << 10;

struct Request {
  std::string method;  // GET, POST or DELETE
  std::string url;     // https://…
  std::string body = {};
  std::string accept = "application/json";  // media types of the answer, as RFC 9110 has them
  size_t most_bytes = kMostErrorBytes;      // of an answer with a status of success
  Duration timeout{10'000};                 // from connecting to the last byte
};

struct Answer {
  int status = 0;
  std::string body = {};  // without success at most the first kMostErrorBytes
};

// Keeps its connection for the next request. Nothing comes from the environment: no proxy, no
// .netrc. No redirect is followed. The server's certificate and name are always verified, by
// TLS 1.2 or later. One thread at a time, but for cancel().
class Exchange {
 public:
  Exchange();

  // Sends a request once; one that is not a GET on a connection of its own, because libcurl repeats
  // a request if a kept connection breaks. `ca` is PEM; empty: the system's CAs. unavailable if the
  // server was not reached or not verified, if the answer is not complete within the timeout, or if
  // it is too large; denied if the server refuses our certificate. Errors have no word of the
  // identity.
  Result<Answer> send(const Request& request, const Identity& identity, const std::string& ca);

  // From any thread: the request that runs, and all later ones, are unavailable within a second.
  void cancel() { cancelled_ = true; }

 private:
  std::unique_ptr<void, void (*)(void*)> curl_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace ibpod::https
