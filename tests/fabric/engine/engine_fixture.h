// The engine, with the real OpenSM on h0.
#pragma once

#include "sm/engine/opensm.h"
#include "sm/engine/test_engine.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/support/temp_folder.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod {

class EngineBed {
 public:
  explicit EngineBed(unsigned host = kSmHost, const sm::OpenSmSettings& opensm = {});
  EngineBed(const EngineBed&) = delete;
  EngineBed& operator=(const EngineBed&) = delete;
  EngineBed(EngineBed&&) = delete;
  EngineBed& operator=(EngineBed&&) = delete;
  ~EngineBed();

  void start();
  // The next version: these and the default partition, and waits until it is in force.
  sm::Standing enforce(const std::vector<fabric::Partition>& tenants);
  uint64_t want(const std::vector<fabric::Partition>& tenants);
  sm::Standing until(const std::function<bool(const sm::Standing&)>& so) {
    return bell.wait(*engine, so);
  }
  sm::Standing until_swept(uint64_t version) {
    return until([&](const sm::Standing& now) { return now.swept == version; });
  }

  sm::OpenSmPaths paths() const { return sm::OpenSmPaths(settings.folder); }
  std::optional<pid_t> find() const;
  void kill() const;
  // As somebody else does who writes the file, or removes it.
  void replace(const std::optional<std::string>& text) const;

  TempFolder folder;
  sm::OpenSmEngineSettings settings;
  sm::test::Bell bell;
  std::unique_ptr<sm::OpenSm> engine;
  std::vector<fabric::Partition> wanted;  // the default partition among them

 private:
  uint64_t version_ = 0;
};

fabric::Partition tenant(uint16_t pkey, std::vector<fabric::Member> members);
inline fabric::Member full(unsigned host) { return {guid_of(host), fabric::Membership::full}; }
inline fabric::Member limited(unsigned host) {
  return {guid_of(host), fabric::Membership::limited};
}

}  // namespace ibpod
