// Server: /metrics, /healthz and /readyz on one address.
// || One thread moves bytes for all clients; four threads answer complete requests, health first.
// So a slow client costs a slot (client_slots.h) and no thread.
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
  // Starts serving. What the pages use must outlive the server.
  static Result<std::unique_ptr<Server>> start(const Address& address, Pages pages);
  // Cuts clients off at once; waits only for pages that are being made.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // With the port that the kernel chose, if it was 0.
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
  std::optional<Deadline> deaf_;  // accepts no client before
  bool full_ = false;             // accepts no client before one has gone
  std::mutex mutex_;
  std::vector<Answer> answers_;  // guarded by mutex_
  std::atomic<bool> stopping_ = false;
  Workers workers_;
  std::jthread thread_;
};

}  // namespace ibpod::http
