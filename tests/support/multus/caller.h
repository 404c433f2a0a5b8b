// Caller: calls the plugins of a delegate, one after the other, as the CNI library does.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"
#include "lib/json/value.h"
#include "tests/support/multus/delegate.h"

#include <string>
#include <vector>

namespace ibpod::multus {

class Caller {
 public:
  // `call` is Multus' own: container, network namespace and environment are passed on. Programs are
  // looked for in `folder`, then where CNI_PATH says.
  Caller(const cni::Call& call, const Path& folder);

  // The result of the last plugin.
  Result<json::Value> add(const Delegate& delegate) const;
  Status del(const Delegate& delegate) const;
  Status check(const Delegate& delegate) const;
  // Both do nothing for a configuration of before 1.1.0. A failure of STATUS keeps its code.
  Status gc(const Delegate& delegate, const std::vector<cni::Attachment>& valid) const;
  Status status(const Delegate& delegate) const;

 private:
  using Extra = std::vector<std::pair<std::string, json::Value>>;
  Result<std::string> run(cni::Verb verb, const Delegate& delegate, const json::Value& plugin,
                          const Extra& extra) const;
  cni::Environment environment(cni::Verb verb, const Delegate& delegate) const;
  std::string arguments(const Delegate& delegate) const;
  Status with_result(cni::Verb verb, const Delegate& delegate) const;

  const cni::Call& call_;
  std::vector<Path> path_;
};

}  // namespace ibpod::multus
