// Store: what ibpod-sm has promised, on disk. Keys and values, by kind; what they mean is the
// service's business, which keeps all of it in memory and reads it here once, at its start.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::store {

// The numbers are on disk: none is ever used again for something else.
enum class RecordKind { partition = 1, binding = 2, node = 3, guid = 4, range = 5 };

struct RecordChange {
  RecordKind kind;
  std::string key;
  std::optional<std::string> value;  // bytes; nothing: the key goes
};

// For one thread at a time. Narrow enough for a store that several replicas share.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  Store(Store&&) = delete;
  Store& operator=(Store&&) = delete;
  virtual ~Store() = default;

  // Everything of a kind, by key.
  virtual Result<std::map<std::string, std::string>> all(RecordKind kind) = 0;

  // All of it or nothing, in this order, and on disk when it succeeds. unavailable where the disk
  // is full: nothing of it is there, and a later call may succeed. After any other failure nobody
  // knows what the next start finds, all or nothing: whoever keeps a copy has to read anew.
  virtual Status commit(const std::vector<RecordChange>& changes) = 0;
};

}  // namespace ibpod::sm::store
