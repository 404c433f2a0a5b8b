#include "lib/rpc/codes.h"

#include <array>
#include <cstdlib>
#include <utility>

namespace ibpod::rpc {
namespace {

// The first number of a Code is the one that it is sent as.
constexpr std::array<std::pair<int, Code>, 13> kCodes{{
    {3, Code::invalid},       // INVALID_ARGUMENT
    {11, Code::invalid},      // OUT_OF_RANGE
    {5, Code::not_found},     // NOT_FOUND
    {6, Code::exists},        // ALREADY_EXISTS
    {10, Code::busy},         // ABORTED
    {12, Code::unsupported},  // UNIMPLEMENTED
    {7, Code::denied},        // PERMISSION_DENIED
    {16, Code::denied},       // UNAUTHENTICATED
    {14, Code::unavailable},  // UNAVAILABLE
    {4, Code::unavailable},   // DEADLINE_EXCEEDED
    {1, Code::unavailable},   // CANCELLED
    {8, Code::unavailable},   // RESOURCE_EXHAUSTED
    {13, Code::internal},     // INTERNAL
}};

Code code_of(int number) {
  for (const auto& [one, code] : kCodes)
    if (one == number) return code;
  return Code::internal;
}

// gRPC's own text may be empty; then the code's number says more.
std::string text_of(int number, const std::string& first_line) {
  if (!first_line.empty()) return first_line;
  return "no reason given (gRPC code " + std::to_string(number) + ")";
}

}  // namespace

int number_of(Code code) {
  for (const auto& [number, one] : kCodes)
    if (one == code) return number;
  std::abort();
}

Status status_of(int number, const std::string& message) {
  if (number == kOk) return ok();
  const size_t end = message.find('\n');
  const Error error(code_of(number), text_of(number, message.substr(0, end)));
  if (end == std::string::npos) return error;
  return Error(error).with_details(message.substr(end + 1));
}

}  // namespace ibpod::rpc
