#include "ctl/words.h"

#include <array>
#include <ctime>

namespace ibpod::ctl {

json::Value strings(const std::vector<std::string>& texts) {
  return list_of(texts, [](const std::string& text) { return json::Value(text); });
}

json::Value count(uint64_t number) { return static_cast<int64_t>(number); }

std::string pod_text(const std::string& name_space, const std::string& pod) {
  return pod.empty() ? "" : name_space + "/" + pod;
}

json::Value known(const std::string& text) { return text.empty() ? json::Value() : text; }

std::string or_unknown(const std::string& text) { return text.empty() ? "not known" : text; }

std::string text_of(ib::Guid guid) { return guid == ib::Guid() ? "" : guid.text(); }

std::string text_of(fabric::WallTime time) {
  if (time == fabric::WallTime{}) return "";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t since = seconds.time_since_epoch().count();
  std::tm parts{};
  if (::gmtime_r(&since, &parts) == nullptr) return "?";
  std::array<char, 64> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

std::string text_of(const fabric::Condition& condition) {
  if (condition.reason == fabric::Reason::none) return condition.text;
  const std::string reason(name(condition.reason));
  return condition.text.empty() ? reason : reason + ": " + condition.text;
}

}  // namespace ibpod::ctl
