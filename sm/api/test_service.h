// A TestFabric behind the service, and a client of it, on a unix socket.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/rpc/server.h"
#include "sm/api/fabric_service.h"
#include "sm/api/test_fabric.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::api {

inline const Caller kRoot{Role::administrator, "", "root"};

inline Result<Caller> root_only(const rpc::Peer& peer) {
  if (peer.local) return kRoot;
  return Error(Code::denied, "unknown caller");
}

// The thread on which the TestFabric is called.
class TestThread {
 public:
  explicit TestThread(TaskQueue& tasks)
      : tasks_(tasks), thread_([this] {
          while (auto some = tasks_.take({}))
            for (const TaskQueue::Task& task : *some) task();
        }) {}
  ~TestThread() { stop(); }
  TestThread(const TestThread&) = delete;
  TestThread& operator=(const TestThread&) = delete;
  TestThread(TestThread&&) = delete;
  TestThread& operator=(TestThread&&) = delete;
  void stop() {
    tasks_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  TaskQueue& tasks_;
  std::thread thread_;
};

struct ServiceFixture {
  // Refused calls of known callers: "ACTION SUBJECT: why".
  std::vector<std::string> refused;
  std::mutex mutex;  // for `refused`
  TempFolder folder;
  Path socket = folder.path() / "sm.sock";
  TestFabric fabric;
  TaskQueue tasks{{}};
  std::unique_ptr<FabricService<TestFabric>> service;
  std::unique_ptr<rpc::Server> server;
  TestThread thread{tasks};
  Client client = Client::over_unix(socket);

  explicit ServiceFixture(const ServiceSettings& settings = {},
                          const Identify& identify = root_only)
      : service(std::make_unique<FabricService<TestFabric>>(
            fabric,
            CallGate::Deps{identify, tasks,
                           [this](const Caller&, std::string_view action,
                                  const std::string& subject, const Error& why) {
                             const std::lock_guard lock(mutex);
                             refused.push_back(std::string(action) + " " + subject + ": " +
                                               why.text());
                           }},
            settings)),
        server(rpc::Server::serve(socket, {service.get()}).value()) {}
};

inline BindingFilter filter_of_node(const std::string& node) {
  BindingFilter filter;
  filter.node = node;
  return filter;
}

inline Deadline soon() { return Deadline::in(Duration(20'000)); }

// Makes a call that ends at its deadline while the fabric keeps it. Tries longer deadlines, as a
// slow machine may need more time to deliver the call.
template <typename Ask>
bool goes_before_the_answer(const TestFabric& fabric, const Ask& ask) {
  for (const int time : {50, 2'000, 16'000}) {
    const auto late = ask(Deadline::in(Duration(time)));
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == Code::unavailable);
    if (in_time([&] { return fabric.kept() >= 1; })) return true;
  }
  return false;
}

}  // namespace ibpod::sm::api
