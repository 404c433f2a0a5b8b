// GuidMappings: which virtual GUIDs may appear behind which physical ports, as
// /app/smconf/physical_virtual_mapping stores it. For any number of threads.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ibpod::fake_ufm {

class GuidMappings {
 public:
  // The ID of the new group. invalid: `body` is no such group.
  Result<int> add(const std::string& body);
  // {"1": {...}}
  std::string show_all() const;
  // One group; empty if there is none.
  std::optional<std::string> show(const std::string& id) const;
  // False if there is none.
  bool remove(const std::string& id);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> groups_;
  int last_ = 0;
};

}  // namespace ibpod::fake_ufm
