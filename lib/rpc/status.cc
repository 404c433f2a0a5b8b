#include "lib/rpc/status.h"

#include "lib/rpc/codes.h"

#include <set>
#include <string_view>

namespace ibpod::rpc {
namespace {

constexpr size_t kLongest = 2000;

// gRPC's resolver says of a name that it cannot resolve why for each kind of address, with words of
// its own before: "C-ares status is not ARES_SUCCESS qtype=A name=sm is_balancer=0: CAUSE".
std::string without_resolver(const std::string& text) {
  constexpr std::string_view kResolver = "C-ares status is not ARES_SUCCESS";
  size_t at = text.find(kResolver);
  std::string plain = text.substr(0, at);
  std::set<std::string> causes;
  while (at != text.npos) {
    const size_t next = text.find(kResolver, at + kResolver.size());
    const std::string one = text.substr(at, next == text.npos ? next : next - at);
    const size_t colon = one.find(": ");
    std::string cause = colon == one.npos ? one : one.substr(colon + 2);
    cause.erase(cause.find_last_not_of(" ;,\n") + 1);
    if (causes.insert(cause).second) plain += (causes.size() > 1 ? "; " : "") + cause;
    at = next;
  }
  return plain;
}

// Explains OpenSSL's error for an answer that is no TLS: HTTP, for example.
std::string with_meaning(std::string text) {
  constexpr std::string_view kMeaning = "the server at that port does not speak TLS";
  // An error that was passed on has the explanation already.
  if (text.find("wrong version number") != text.npos && text.find(kMeaning) == text.npos)
    text += ": " + std::string(kMeaning) + "; check the address and the port";
  return text;
}

}  // namespace

grpc::Status to_grpc(const Error& error) {
  std::string message = error.text();
  if (!error.details().empty()) message += "\n" + error.details();
  if (message.size() > kLongest) message.resize(kLongest);
  return {static_cast<grpc::StatusCode>(number_of(error.code())), message};
}

Status from_grpc(const grpc::Status& status) {
  return status_of(status.error_code(), with_meaning(without_resolver(status.error_message())));
}

}  // namespace ibpod::rpc
