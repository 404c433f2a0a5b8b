#include "lib/jwt/fetched_key_set.h"

#include "lib/base/jitter.h"
#include "lib/base/printable.h"
#include "lib/base/private_file.h"
#include "lib/base/token_file.h"
#include "lib/https/failure.h"

#include <optional>
#include <utility>

namespace ibpod::jwt {
namespace {

using Clock = Deadline::Clock;

constexpr Duration kTimeout{10'000};
constexpr size_t kMostText = 300;
// The API server of Kubernetes has the first alone, and answers 406 to others; RFC 7517, 8.5.
constexpr auto kMediaTypes = "application/jwk-set+json, application/json";

// A user who can write the file can make any server the issuer, so no other user may.
Result<std::string> read_ca(const Path& file) {
  std::string ca = TRY(read_trusted_file(file));
  // No CA would mean those of the system.
  if (ca.find("-----BEGIN ") == ca.npos)
    return Error(Code::invalid, file.string() + ": expected certificates in PEM, got none");
  return ca;
}

Result<https::Identity> read_identity(const Path& file) {
  https::Identity identity;
  if (file.empty()) return identity;
  std::string token = TRY(read_token_file(file));
  identity.password = https::Secret(std::move(token));
  identity.authorization.append("Bearer ").append(identity.password.text());
  return identity;
}

Result<KeySet> read_keys(const https::Answer& answer) {
  const std::optional<Error> failure = https::failure_of(answer);
  if (failure) return *failure;
  return KeySet::parse(answer.body);
}

}  // namespace

FetchedKeySet::FetchedKeySet(KeyEndpoint endpoint, const FetchSchedule::Settings& timing)
    : endpoint_(std::move(endpoint)),
      schedule_(timing, Clock::now(), random_number()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

FetchedKeySet::~FetchedKeySet() = default;

Result<std::shared_ptr<const KeySet>> FetchedKeySet::now() {
  const std::lock_guard lock(mutex_);
  if (keys_ != nullptr) return keys_;
  return Error(Code::unavailable,
               "it cannot be verified yet: the keys of its issuer have not been fetched");
}

void FetchedKeySet::key_missing() {
  {
    const std::lock_guard lock(mutex_);
    const FetchSchedule::Time before = schedule_.due();
    schedule_.key_missing();
    if (schedule_.due() == before) return;
  }
  wake_.notify_all();
}

Status FetchedKeySet::state() const {
  const std::lock_guard lock(mutex_);
  const bool has_keys = keys_ != nullptr && !keys_->keys().empty();
  if (!trouble_)
    return Error(trouble_.error())
        .during(has_keys ? "the previous keys stay in use" : "no keys: every token is refused");
  const bool is_first = keys_ == nullptr;  // and runs, for no longer than kTimeout
  if (has_keys || is_first) return ok();
  return Error(Code::unavailable, endpoint_.url + ": no keys: every token is refused");
}

void FetchedKeySet::run(const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [this] { exchange_.cancel(); });
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const FetchSchedule::Time due = schedule_.due();
    if (Clock::now() < due) {
      wake_.wait_until(lock, stop, due, [&] { return schedule_.due() != due; });
      continue;
    }
    lock.unlock();
    Result<KeySet> keys = fetch().during(endpoint_.url);
    lock.lock();
    take(std::move(keys));
  }
}

// Under the lock.
void FetchedKeySet::take(Result<KeySet> keys) {
  trouble_ = keys ? ok() : Status(std::move(keys).error());
  if (!trouble_) return schedule_.failed(Clock::now());
  keys_ = std::make_shared<const KeySet>(std::move(keys).value());
  schedule_.succeeded(Clock::now());
}

Result<KeySet> FetchedKeySet::fetch() {
  const std::string ca = TRY(read_ca(endpoint_.ca));
  const https::Identity identity = TRY(read_identity(endpoint_.token));
  Result<https::Answer> answer = exchange_.send({.method = "GET",
                                                 .url = endpoint_.url,
                                                 .accept = kMediaTypes,
                                                 .most_bytes = KeySet::kLargest,
                                                 .timeout = kTimeout},
                                                identity, ca);
  // Before a text is cut: a part of the token is a secret, too.
  if (answer) answer->body = identity.redacted(std::move(answer->body));
  Result<KeySet> keys = answer ? read_keys(*answer) : answer.error();
  if (keys) return keys;
  const Error& error = keys.error();
  return Error(error.code(), printable(identity.redacted(error.text()), kMostText));
}

}  // namespace ibpod::jwt
