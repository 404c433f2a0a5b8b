#include "lib/log/log.h"

#include "lib/base/private_file.h"

#include <array>
#include <chrono>

#include <time.h>
#include <unistd.h>

namespace ibpod::log {
namespace {

// 2026-01-31T12:00:00.123Z
std::string now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
  tm broken{};
  ::gmtime_r(&seconds, &broken);
  std::array<char, 32> text{};
  const size_t length = ::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &broken);
  const std::string digits = std::to_string(1000 + millis);
  return std::string(text.data(), length) + "." + digits.substr(1) + "Z";
}

void put(int fd, const std::string& line) {
  // One write a line: lines of processes that share a file do not mix. A failure is ignored, as
  // there is no other place to report it.
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
}

void add_members(json::Value& line, const json::Value& members) {
  const auto all = members.members();
  if (!all) return;
  for (const auto& [key, value] : *all) line.set(key, value);
}

}  // namespace

Words<Level> words_of(Level) {
  return {{"debug", Level::debug},
          {"info", Level::info},
          {"warning", Level::warning},
          {"error", Level::error}};
}

std::string_view name(Level level) { return word_of(words_of(level), level); }

Result<Level> parse_level(std::string_view text) {
  if (text == "warn") return Level::warning;
  if (text == "panic" || text == "fatal") return Level::error;
  if (const std::optional<Level> level = find_word(words_of(Level()), text)) return *level;
  return Error(Code::invalid, "\"" + std::string(text) +
                                  "\" is not a log level: expected debug, info, warning or error");
}

Status Log::open(const Path& file) {
  file_ = TRY(open_trusted_log(file));
  return ok();
}

Log& Log::always(std::string_view key, json::Value value) {
  common_.set(key, std::move(value));
  return *this;
}

void Log::write(Level level, std::string_view message, const json::Value& members) {
  if (level < least_) return;
  json::Value line = json::Value::object();
  line.set("time", now()).set("level", name(level)).set("msg", message);
  add_members(line, common_);
  add_members(line, members);
  const std::string text = line.ascii() + "\n";
  put(2, text);
  if (file_.valid()) put(file_.get(), text);
}

}  // namespace ibpod::log
