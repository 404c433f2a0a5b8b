// Log: one JSON object a line, for programs. Libraries never log: they return what happened.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/json/value.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::log {

// error: somebody must act; warning: we worked around it; info: state changed; debug: the steps.
enum class Level { debug, info, warning, error };
std::string_view name(Level level);
// "debug", "info", "warning" (or "warn"), "error"; also "panic" and "fatal", which older
// configurations use, as error.
Result<Level> parse_level(std::string_view text);

class Log {
 public:
  // To standard error until open() has found something better; never to standard output, which
  // carries a plugin's protocol.
  explicit Log(Level least) : least_(least) {}

  // Lines go to this file too, from now on: made with mode 0600, appended to. denied if it is a
  // link or no regular file, or if others than root could write or replace it (private_file.h).
  Status open(const Path& file);
  void set_least(Level least) { least_ = least; }

  // A member that every following line carries: "containerID", "pod" …
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
