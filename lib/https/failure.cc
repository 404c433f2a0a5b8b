#include "lib/https/failure.h"

#include "lib/base/printable.h"

#include <string>

namespace ibpod::https {
namespace {

constexpr size_t kMostWords = 200;

Code code_of(int status) {
  if (status == 401 || status == 403) return Code::denied;
  const bool is_refusal = status >= 400 && status < 500 && status != 408 && status != 429;
  return is_refusal ? Code::invalid : Code::unavailable;
}

std::string words_of(const Answer& answer) {
  if (answer.status >= 300 && answer.status < 400) return ": a redirect, which is not followed";
  if (answer.body.empty()) return {};
  return is_html(answer.body) ? " with HTML" : ": " + printable(answer.body, kMostWords);
}

}  // namespace

bool is_html(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '<';
}

bool is_not_found(const Answer& answer) {
  return answer.status == 404 || answer.status == 405 || answer.status == 410;
}

std::optional<Error> failure_of(const Answer& answer) {
  for (const int success : {200, 201, 202, 204})
    if (answer.status == success) return std::nullopt;
  return Error(code_of(answer.status),
               "answered " + std::to_string(answer.status) + words_of(answer));
}

}  // namespace ibpod::https
