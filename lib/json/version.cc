#include "lib/json/version.h"

#include "lib/base/files.h"

namespace ibpod::json {

Status check_version(const Value& document, int64_t newest) {
  const std::optional<Value> member = document.find(kVersion);
  if (!member) return ok();
  const int64_t version = TRY(member->integer(1, INT64_MAX));
  return ibpod::check_version(version, newest);
}

}  // namespace ibpod::json
