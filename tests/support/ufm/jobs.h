// Jobs: the asynchronous tasks of a UFM, as /jobs shows them. Their work is done when they are
// made; how long they are shown as running is for the caller to say. For any number of threads.
#pragma once

#include "tests/support/ufm/rest_settings.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ibpod::fake_ufm {

class Jobs {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Returns its ID. Empty `failure`: it succeeds.
  std::string add(const std::string& operation, const std::string& user, const std::string& failure,
                  Time now);
  // Its JSON; empty if there is none.
  std::optional<std::string> show(const std::string& id, Time now,
                                  const RestSettings& settings) const;
  std::string show_all(Time now, const RestSettings& settings) const;
  // False if there is none.
  bool remove(const std::string& id);

 private:
  struct Job {
    std::string operation, user, failure;
    Time created;
  };
  static std::string show_one(const std::string& id, const Job& job, Time now,
                              const RestSettings& settings);
  mutable std::mutex mutex_;
  std::map<std::string, Job> jobs_;
  int last_ = 0;
};

}  // namespace ibpod::fake_ufm
