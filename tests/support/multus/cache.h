// Cache: what has been called for each container, so that DEL calls the same, whatever has become
// of the pod and its networks. A file for each container.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"
#include "tests/support/multus/delegate.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::multus {

class Cache {
 public:
  explicit Cache(Path folder) : folder_(std::move(folder)) {}

  Status write(const std::string& container, const std::vector<Delegate>& delegates) const;
  // Nothing where it knows of none.
  Result<std::optional<std::vector<Delegate>>> read(const std::string& container) const;
  Status remove(const std::string& container) const;
  // Of all containers and networks.
  Result<std::vector<cni::Attachment>> attachments() const;

 private:
  Path folder_;
};

}  // namespace ibpod::multus
