// Log: one JSON object per line. Libraries never log: they return Results.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/base/words.h"
#include "lib/json/value.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::log {

// error: an operator must act; warning: the program works around it; info: state changed; debug:
// steps.
enum class Level { debug, info, warning, error };
std::string_view name(Level level);
// The first four of these: what configurations have.
Words<Level> words_of(Level);
// "debug", "info", "warning" (or "warn"), "error"; also "panic" and "fatal" (as error), which older
// configurations use.
Result<Level> parse_level(std::string_view text);

class Log {
 public:
  // Writes to standard error until open() succeeds; never to standard output, which carries a
  // plugin's protocol.
  explicit Log(Level least) : least_(least) {}

  // Writes lines to this file too: created with mode 0600, appended to. denied if it is a link or
  // not a regular file, or if other users than root can write or replace it (private_file.h).
  Status open(const Path& file);
  void set_least(Level least) { least_ = least; }

  // Adds a member to every following line: "containerID", "pod" …
  Log& always(std::string_view key, json::Value value);

  // One line with time, level and message, then the common members, then these.
  void write(Level level, std::string_view message,
             const json::Value& members = json::Value::object());

 private:
  std::atomic<Level> least_;
  Fd file_;
  json::Value common_ = json::Value::object();
};

}  // namespace ibpod::log
