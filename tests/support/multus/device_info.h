// Device-info files (Device Information Specification): a device plugin writes one for a device,
// its copy is the attachment's, which the CNI plugin may correct, and which is in the pod's status.
// Multus copies and tells only the members that it knows, and makes the folder only for a copy.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/json/value.h"
#include "tests/support/multus/delegate.h"

#include <optional>
#include <string>

namespace ibpod::multus {

class DeviceInfo {
 public:
  explicit DeviceInfo(Path folder) : folder_(std::move(folder)) {}

  // The attachment's file, which need not be there. Empty for a delegate without a device, and for
  // the default network.
  Path file(const Delegate& delegate, const std::string& container) const;
  // Copies the device plugin's file, if there is one; a file that is there stays.
  Status copy(const Delegate& delegate, const std::string& container) const;
  std::optional<json::Value> read(const Delegate& delegate, const std::string& container) const;
  Status remove(const Delegate& delegate, const std::string& container) const;

 private:
  Path folder_;
};

}  // namespace ibpod::multus
