// The controller of a Fixture on its thread, behind the service, and a client of it on a unix
// socket.
#pragma once

#include "lib/fabricapi/client.h"
#include "lib/rpc/server.h"
#include "sm/api/fabric_service.h"
#include "sm/controller/controller_thread.h"
#include "sm/controller/test_fixture.h"
#include "tests/support/temp_folder.h"

#include <memory>
#include <mutex>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {

inline const fabricapi::Caller kReader{fabricapi::Role::reader, "", "CN=grafana"};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline Deadline soon() { return Deadline::in(Duration(20'000)); }

struct ThreadFixture : Fixture {
  ThreadFixture() {
    REQUIRE(log.open(folder.path() / "log"));
    log.set_least(log::Level::info);
  }
  // The callbacks since the last call.
  std::string told() {
    const std::string all = read_file(folder.path() / "log").value();
    return all.substr(std::exchange(read, all.size()));
  }

  TempFolder folder;
  size_t read = 0;
};

// The calls of one caller, through the service to the controller.
struct ServedFixture : ThreadFixture {
  explicit ServedFixture(api::CallQueue::Limits limits = {}) : thread(limits) {}
  ~ServedFixture() {
    thread.stop();
    controller.reset();
    server.reset();
  }
  ServedFixture(const ServedFixture&) = delete;
  ServedFixture& operator=(const ServedFixture&) = delete;
  ServedFixture(ServedFixture&&) = delete;
  ServedFixture& operator=(ServedFixture&&) = delete;

  // Sets the caller of the next calls.
  void is(const fabricapi::Caller& who) {
    const std::lock_guard lock(mutex);
    caller = who;
  }
  fabricapi::Caller now_calling() {
    const std::lock_guard lock(mutex);
    return caller;
  }

  ControllerThread thread;
  std::mutex mutex;
  fabricapi::Caller caller = kReader;
  api::FabricService<FabricCalls> service{
      controller->calls(),
      {[this](const rpc::Peer&) -> Result<fabricapi::Caller> { return now_calling(); },
       thread.tasks(),
       [this](const fabricapi::Caller& who, std::string_view action, const std::string& subject,
              const Error& why) { telemetry.audit(who, action, subject, why); }}};
  Path socket = folder.path() / "sm.sock";
  std::unique_ptr<rpc::Server> server = rpc::Server::serve(socket, {&service}).value();
  fabricapi::Client client = fabricapi::Client::over_unix(socket);
};

template <typename Value>
Code code_of(const Result<Value>& answer) {
  REQUIRE_FALSE(answer);
  return answer.error().code();
}

}  // namespace ibpod::sm::controller::test
