#include "lib/cni/delegate_error.h"

#include "lib/base/join.h"
#include "lib/json/value.h"

namespace ibpod::cni {
namespace {

constexpr size_t kQuoted = 1024;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// It goes on into our own error, whatever its size.
std::string cut(std::string text) {
  if (text.size() <= kQuoted) return text;
  text.resize(kQuoted);
  return text + " ...";
}

}  // namespace

std::string tail(const std::string& written) {
  std::string text = trimmed(written);
  if (text.size() <= kQuoted) return text;
  text = text.substr(text.size() - kQuoted);
  const size_t line = text.find('\n');
  return "... " + (line == text.npos ? text : text.substr(line + 1));
}

std::optional<DelegateError> parse_delegate_error(const std::string& output) {
  const Result<json::Value> document = json::Value::parse(output);
  if (!document || !document->is_object()) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const std::optional<json::Value> value = document->find(key);
    return value && value->is_string() ? value->string().value() : std::string();
  };
  DelegateError delegate_error;
  delegate_error.text = text_of("msg");
  const std::string details = text_of("details");
  if (!details.empty()) add_item(delegate_error.text, "; ", details);
  delegate_error.text = cut(std::move(delegate_error.text));
  const std::optional<json::Value> code = document->find("code");
  const Result<int64_t> number = code ? code->integer() : Result<int64_t>(int64_t{0});
  delegate_error.code = number ? *number : 0;
  if (delegate_error.text.empty() && delegate_error.code == 0) return std::nullopt;
  return delegate_error;
}

std::string describe(const Finished& finished, const std::optional<DelegateError>& delegate_error) {
  if (delegate_error)
    return delegate_error->text + " (code " + std::to_string(delegate_error->code) + ")";
  std::string reason = tail(finished.errors.empty() ? finished.output : finished.errors);
  return "failed with exit code " + std::to_string(finished.exit_code) +
         (reason.empty() ? " and no output" : ": " + reason);
}

}  // namespace ibpod::cni
