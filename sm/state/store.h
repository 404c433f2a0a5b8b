// Store: the state of ibpod-sm on disk, as keys and values by kind. State interprets them, keeps
// them all in memory, and reads the store at its start.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::state {

// The numbers are on disk: a number must never be reused.
enum class RecordKind { partition = 1, binding = 2, node = 3, guid = 4, range = 5 };

struct RecordChange {
  RecordKind kind;
  std::string key;
  std::optional<std::string> value;  // bytes; nothing: the record is removed
};

// For one thread at a time.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  Store(Store&&) = delete;
  Store& operator=(Store&&) = delete;
  virtual ~Store() = default;

  // All records of a kind, by key.
  virtual Result<std::map<std::string, std::string>> all(RecordKind kind) = 0;

  // Writes all changes in this order, or none; they are durable if it succeeds. unavailable if the
  // disk is full: nothing was written, and a later call may succeed. After any other error all or
  // nothing was written: the caller must read the store again.
  virtual Status commit(const std::vector<RecordChange>& changes) = 0;
};

}  // namespace ibpod::sm::state
