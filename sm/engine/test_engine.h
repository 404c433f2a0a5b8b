// An engine under test, with waits for its callbacks, and the checks for every engine
// (SubnetManager).
#pragma once

#include "lib/base/clock.h"
#include "sm/engine/subnet_manager.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::engine::test {

class Bell {
 public:
  SubnetManager::OnChange rung() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  // Waits until the condition is true; it is checked at each callback.
  EngineStatus wait(const SubnetManager& engine,
                    const std::function<bool(const EngineStatus&)>& desired) {
    const Deadline deadline = Deadline::in(std::chrono::seconds(60));
    std::unique_lock lock(mutex_);
    while (true) {
      const uint64_t count = count_;
      lock.unlock();
      const EngineStatus now = engine.status();
      if (desired(now)) return now;
      lock.lock();
      const bool more = changed_.wait_until(lock, deadline.time(), [&] { return count_ != count; });
      if (!more) FAIL("it stays so: " << text_of(now));
    }
  }

  static std::string text_of(const EngineStatus& now) {
    return std::string(name(now.health)) + " (" + now.trouble + "), placed " +
           std::to_string(now.placed) + ", swept " + std::to_string(now.swept) + ", sweeps " +
           std::to_string(now.sweeps) + ", HUPs " + std::to_string(now.hups) + ", fail-opens " +
           std::to_string(now.fail_opens) + ", restores " + std::to_string(now.restores);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
};

inline Partitions with_tenant(uint16_t pkey, std::vector<fabric::Member> members = {}) {
  fabric::PartitionDefinition record;
  record.name = "tenant";
  record.pkey = ib::PKey(pkey);
  record.members = std::move(members);
  if (record.members.empty()) record.members = {{ib::Guid(0x100003), fabric::Membership::full}};
  return std::make_shared<std::vector<fabric::PartitionDefinition>>(
      std::vector<fabric::PartitionDefinition>{fabric::default_definition(), record});
}

inline void check_contract(SubnetManager& engine, Bell& bell) {
  CHECK(engine.status().placed == 0);
  CHECK(engine.manual_partitions().empty());
  engine.apply(1, with_tenant(1));
  bell.wait(engine, [](const EngineStatus& now) { return now.placed >= 1; });
  bell.wait(engine, [](const EngineStatus& now) { return now.swept >= 1; });
  bell.wait(engine, [](const EngineStatus& now) { return now.health == Health::serving; });
  // The newest version wins, and no older one follows it.
  for (uint16_t version = 2; version <= 50; ++version) engine.apply(version, with_tenant(version));
  engine.apply(7, with_tenant(7));
  const EngineStatus last = bell.wait(engine, [](const EngineStatus& now) {
    CHECK(now.swept <= now.placed);
    return now.swept == 50;
  });
  CHECK(last.placed == 50);
  CHECK(last.health == Health::serving);
  // An impossible definition is an error, and changes nothing.
  CHECK(engine.check(*with_tenant(3)));
  auto wrong = *with_tenant(3);
  wrong.back().name = "a name: with syntax";
  CHECK(engine.check(wrong).error().code() == Code::invalid);
  CHECK(engine.status().placed == 50);
}

}  // namespace ibpod::sm::engine::test
