#include "sm/ufm/ufm_servers.h"

#include "lib/base/join.h"
#include "lib/base/printable.h"
#include "lib/https/address.h"
#include "lib/https/failure.h"
#include "sm/ufm/messages.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

// For errors: without the query, and without most of a list of GUIDs.
std::string shown(std::string_view path) {
  constexpr size_t kMostPath = 80;
  return printable(path.substr(0, path.find('?')), kMostPath);
}

// A login page and a web server without UFM behind it answer, too.
Status read_as_list(const https::Answer& answer) {
  const std::optional<Error> failure = https::failure_of(answer);
  if (failure) return Error(*failure).as(Code::unavailable);
  TRY(parse_partitions(answer.body));
  return ok();
}

Status judge(const https::Answer& answer, const UfmServers::Reader& read) {
  const std::optional<Error> failure = https::failure_of(answer);
  if (failure && !https::is_not_found(answer)) return *failure;
  return read(answer);
}

bool is_denied(const Error& error) { return error.code() == Code::denied; }

}  // namespace

UfmServers::UfmServers(const ClientSettings& settings)
    : addresses_(settings.addresses),
      credentials_(settings.auth),
      ca_(settings.ca),
      timeout_(settings.timeout) {}

Result<UfmServers::Access> UfmServers::read_files() const {
  Access access;
  access.identity = TRY(credentials_.read());
  access.ca = TRY(read_ca(ca_));
  return access;
}

Status UfmServers::call(const RestCall& call, const Reader& read) {
  peer_ = Peer::none;
  const Access access = TRY(read_files());
  std::vector<Error> errors;
  const size_t first = current_;
  for (size_t n = 0; n < addresses_.size(); ++n) {
    const size_t at = (first + n) % addresses_.size();
    const bool is_known = confirmed_ && at == current_;
    const Status master = is_known ? ok() : confirm(at, access);
    if (!master) {
      if (master_ == at && !is_denied(master.error())) master_.reset();
      errors.push_back(master.error());
      continue;
    }
    if (!is_known) {
      peer_ = Peer::master;
      denials_.clear();
      for (const Error& error : errors)
        if (is_denied(error)) denials_.push_back(error.text());
    }
    current_ = at;
    const bool is_other = master_ != at;
    if (is_other) ++generation_;
    master_ = at;
    if (is_other && generation_ > 1 && call.method != "GET") {
      confirmed_ = true;
      errors.emplace_back(Code::unavailable, "not sent: " + addresses_[at] +
                                                 " is the master now, and may have other "
                                                 "partitions than were read before");
      return failure(errors);
    }
    const Status done = ask(at, call, read, access);
    confirmed_ = done || (done.error().code() != Code::unavailable && !is_denied(done.error()));
    if (done || done.error().code() != Code::unavailable) {
      peer_ = Peer::master;
      return done;
    }
    master_.reset();
    errors.push_back(done.error());
  }
  return failure(errors);
}

Status UfmServers::confirm(size_t at, const Access& access) {
  return ask(at, {.method = "GET", .path = "/resources/pkeys", .most_bytes = kMostListBytes},
             read_as_list, access);
}

Status UfmServers::ask(size_t at, const RestCall& call, const Reader& read, const Access& access) {
  const std::string& address = addresses_[at];
  TRY(https::check_address(address));
  const std::string path = std::string(credentials_.base_path()) + call.path;
  auto answer = exchange_.send({.method = call.method,
                                .url = address + path,
                                .body = call.body,
                                .most_bytes = call.most_bytes,
                                .timeout = timeout_},
                               access.identity, access.ca);
  if (answer && peer_ == Peer::none) peer_ = Peer::standby;
  if (answer && https::failure_of(*answer)) answer->body = access.identity.redacted(answer->body);
  const Status done = answer ? judge(*answer, read) : answer.error();
  if (answer) https::wipe(answer->body);  // the settings of a subnet manager contain its keys
  if (done) return done;
  const Error error =
      Error(done.error()).during(call.method + " " + shown(path) + " at " + address);
  return Error(error.code(), access.identity.redacted(error.text()));
}

Error UfmServers::failure(const std::vector<Error>& errors) const {
  if (errors.empty()) return Error(Code::invalid, "no address of UFM is configured");
  const bool denied = std::any_of(errors.begin(), errors.end(), is_denied);
  return Error(denied ? Code::denied : Code::unavailable, join(errors, "; ", &Error::text));
}

}  // namespace ibpod::sm::ufm
