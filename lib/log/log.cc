#include "lib/log/log.h"

#include "lib/base/private_file.h"

#include <array>
#include <chrono>
#include <cstdio>

#include <unistd.h>

namespace ibpod::log {
namespace {

// 2026-01-31T12:00:00.123Z. Not by gmtime(), which reads the files of the local time zone.
std::string now() {
  using namespace std::chrono;
  const auto time = floor<milliseconds>(system_clock::now());
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
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
