#include "tests/fabric/engine/reader.h"

namespace ibpod {

Reader::Reader(Subnet& subnet)
    : subnet_(subnet), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Reader::expect(unsigned host, ib::PKey key, bool there) {
  const std::lock_guard lock(mutex_);
  expected_[host] = {key, there, ++number_};
}

void Reader::unsure(unsigned host) {
  const std::lock_guard lock(mutex_);
  expected_.erase(host);
}

void Reader::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::unique_lock lock(mutex_);
    const std::map<unsigned, Expected> before = expected_;
    lock.unlock();
    const std::vector<ib::PKeyTable> tables = subnet_.tables();
    lock.lock();
    for (const auto& [host, expected] : before) {
      // A host whose expected key changed while the tables were read is not judged.
      const auto now = expected_.find(host);
      if (now == expected_.end() || now->second.since != expected.since) continue;
      ++sum_.judged;
      const bool there = ib::find_in(tables[host], expected.key).has_value();
      if (there != expected.there) ++sum_.wrong;
    }
  }
}

Reader::Sum Reader::end() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return sum_;
}

}  // namespace ibpod
