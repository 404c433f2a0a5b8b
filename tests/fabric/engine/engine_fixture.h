// The engine, with the real OpenSM on h0.
#pragma once

#include "sm/engine/test_engine.h"
#include "sm/opensm/opensm.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/support/temp_folder.h"

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod {

class EngineFixture {
 public:
  explicit EngineFixture(unsigned host = kSmHost, const sm::opensm::OpenSmSettings& opensm = {});
  EngineFixture(const EngineFixture&) = delete;
  EngineFixture& operator=(const EngineFixture&) = delete;
  EngineFixture(EngineFixture&&) = delete;
  EngineFixture& operator=(EngineFixture&&) = delete;
  ~EngineFixture();

  void start();
  // The next version: these and the default partition, and waits until it is in force.
  sm::engine::EngineStatus enforce(const std::vector<fabric::PartitionDefinition>& tenants);
  uint64_t set_definitions(const std::vector<fabric::PartitionDefinition>& tenants);
  sm::engine::EngineStatus until(const std::function<bool(const sm::engine::EngineStatus&)>& so) {
    return bell.wait(*engine, so);
  }
  sm::engine::EngineStatus until_swept(uint64_t version) {
    return until([&](const sm::engine::EngineStatus& now) { return now.swept == version; });
  }

  sm::opensm::OpenSmPaths paths() const { return sm::opensm::OpenSmPaths(settings.folder); }
  std::optional<pid_t> find() const;
  // OpenSM, once it runs: one that a bad file ended is started again only after a moment.
  pid_t running();
  void kill() { ::kill(running(), SIGKILL); }
  // As somebody else does who writes the file, or removes it.
  void replace(const std::optional<std::string>& text) const;

  TempFolder folder;
  sm::opensm::OpenSmEngineSettings settings;
  sm::engine::test::Bell bell;
  std::unique_ptr<sm::opensm::OpenSm> engine;
  std::vector<fabric::PartitionDefinition> definitions;  // the default partition among them

 private:
  uint64_t version_ = 0;
};

fabric::PartitionDefinition tenant(uint16_t pkey, std::vector<fabric::Member> members);
inline fabric::Member full(unsigned host) { return {guid_of(host), fabric::Membership::full}; }
inline fabric::Member limited(unsigned host) {
  return {guid_of(host), fabric::Membership::limited};
}

}  // namespace ibpod
