// FetchedKeySet: a key set that a server gives, such as the API server of a cluster, fetched again
// and again: an issuer's keys change.
#pragma once

#include "lib/base/files.h"
#include "lib/https/exchange.h"
#include "lib/jwt/fetch_schedule.h"
#include "lib/jwt/key_source.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace ibpod::jwt {

// Both files are read for each fetch.
struct KeyEndpoint {
  std::string url;  // https://…
  Path ca;          // PEM: the server's certificate is issued by one of these
  Path token;       // sent as `authorization: Bearer TOKEN`; empty: none
  bool operator==(const KeyEndpoint&) const = default;
};

class FetchedKeySet final : public KeySource {
 public:
  // Begins to fetch at once, on a thread of its own; then as FetchSchedule has it.
  explicit FetchedKeySet(KeyEndpoint endpoint, const FetchSchedule::Settings& timing = {});
  // A fetch that runs ends within a second.
  ~FetchedKeySet() override;
  FetchedKeySet(const FetchedKeySet&) = delete;
  FetchedKeySet& operator=(const FetchedKeySet&) = delete;
  FetchedKeySet(FetchedKeySet&&) = delete;
  FetchedKeySet& operator=(FetchedKeySet&&) = delete;

  // The keys of the last fetch that gave a key set; unavailable before the first. An empty list of
  // keys withdraws the previous ones; a failure leaves them in use.
  Result<std::shared_ptr<const KeySet>> now() override;
  void key_missing() override;
  // As of the last fetch; ok while the first one runs, which is no fault. Its text has the URL, and
  // never the token.
  Status state() const override;

 private:
  void run(const std::stop_token& stop);
  Result<KeySet> fetch();
  void take(Result<KeySet> keys);

  const KeyEndpoint endpoint_;
  https::Exchange exchange_;  // the thread's, but for its cancel()

  mutable std::mutex mutex_;  // for the members from here
  std::condition_variable_any wake_;
  FetchSchedule schedule_;
  std::shared_ptr<const KeySet> keys_;  // null before the first success
  Status trouble_ = ok();               // of the last fetch

  std::jthread thread_;  // last, as it uses all other members
};

}  // namespace ibpod::jwt
