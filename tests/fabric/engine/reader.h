// Reader: reads the tables of all hosts again and again beside a test, and compares them with what
// has been acknowledged.
#pragma once

#include "tests/fabric/engine/subnet.h"

#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace ibpod {

class Reader {
 public:
  explicit Reader(Subnet& subnet);
  ~Reader() { end(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  Reader(Reader&&) = delete;
  Reader& operator=(Reader&&) = delete;

  // From now on every reading that begins has the key, or has it not.
  void expect(unsigned host, ib::PKey key, bool there);
  // It is about to change: what is read until the next expect() is not judged.
  void unsure(unsigned host);

  struct Sum {
    size_t judged = 0;  // tables
    size_t wrong = 0;
  };
  Sum end();

 private:
  struct Expected {
    ib::PKey key;
    bool there;
    uint64_t since;  // which of all that was expected
  };
  void run(const std::stop_token& stop);

  Subnet& subnet_;
  std::mutex mutex_;  // of what follows
  std::map<unsigned, Expected> expected_;
  uint64_t number_ = 0;
  Sum sum_;
  std::jthread thread_;
};

}  // namespace ibpod
