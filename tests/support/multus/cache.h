// Cache: what has been called for each container, so that DEL calls the same, whatever has become
// of the pod and its networks (a file for each container), and what each has answered ADD with (a
// file for each in "results"), which goes by a DEL that succeeds.
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

  // Keys that are not in the specification's result are not kept.
  Status write_result(const std::string& container, const Delegate& delegate) const;
  std::optional<json::Value> result(const std::string& container, const Delegate& delegate) const;
  Status remove_result(const std::string& container, const Delegate& delegate) const;
  // That have a result. not_found before there was any.
  Result<std::vector<cni::Attachment>> attachments() const;

 private:
  Path result_file(const std::string& container, const Delegate& delegate) const;

  Path folder_;
};

}  // namespace ibpod::multus
