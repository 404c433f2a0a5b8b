// Server: /metrics, /healthz and /readyz on one address.
//
// One thread moves bytes for all clients, four answer requests that are there whole, those for
// health first. So a client that sends or takes slowly costs a place (client_slots.h) and no
// thread.
#pragma once

#include "lib/http/address.h"
#include "lib/http/client_slots.h"
#include "lib/http/connection.h"
#include "lib/http/exchange.h"
#include "lib/http/workers.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ibpod::http {

class Server {
 public:
  // Serves from here on. What the pages use must outlive the server.
  static Result<std::unique_ptr<Server>> start(const Address& address, Pages pages);
  // At once: clients are cut off; only a page that is being made is waited for.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the port that was free, where it was to be any.
  const Address& address() const { return address_; }

 private:
  using Number = ClientSlots::Number;
  struct Answer {
    Number client;
    std::string text;
  };

  Server(Address address, Fd listening, Fd wake, Pages pages);
  void run();
  void await();
  bool greet();
  void proceed(Number client);
  void deliver();
  void wake() const;

  Address address_;
  Fd listening_, wake_;
  Exchange exchange_;
  ClientSlots clients_;
  std::optional<Deadline> deaf_;  // until then nobody is let in
  bool full_ = false;             // nor before somebody has gone
  std::mutex mutex_;
  std::vector<Answer> answers_;  // guarded by mutex_
  std::atomic<bool> stopping_ = false;
  Workers workers_;
  std::jthread thread_;
};

}  // namespace ibpod::http
