#include "lib/kube/registration_attempt.h"

#include "lib/kube/test_pool.h"

#include <fstream>
#include <unordered_map>

#include <doctest/doctest.h>

namespace ibpod::kube {
namespace {

struct AttemptFixture {
  TempFolder folder;
  Pool pool;
  RegistrationState state{Wake::open().value(), {}};
  DeviceService service{pool, state};
  Path socket = folder.path() / "example.com_ib_vf.sock";
  Path kubelet = folder.path() / "kubelet.sock";

  std::unique_ptr<RegistrationAttempt> attempt(Mode mode) {
    return std::make_unique<RegistrationAttempt>(RegistrationAttempt::Deps{state, service},
                                                 pool.name(), mode, folder.path());
  }
};

TEST_CASE("an attempt serves a socket, and removes it at its end") {
  AttemptFixture fixture;
  auto attempt = fixture.attempt(Mode::watcher);
  CHECK_FALSE(attempt->is_in_place());
  REQUIRE(attempt->begin({}));
  CHECK(attempt->is_in_place());
  CHECK(path_exists(fixture.socket));
  attempt.reset();
  CHECK_FALSE(path_exists(fixture.socket));
}

TEST_CASE("a socket that another process removes is not in place") {
  AttemptFixture fixture;
  const auto attempt = fixture.attempt(Mode::watcher);
  REQUIRE(attempt->begin({}));
  std::filesystem::remove(fixture.socket);
  const Deadline late = Deadline::in(Duration(60'000));
  attempt->wait(late);
  CHECK_FALSE(late.passed());  // the folder has changed
  CHECK_FALSE(attempt->is_in_place());
}

TEST_CASE("another kubelet listens if its socket is another file") {
  AttemptFixture fixture;
  const auto attempt = fixture.attempt(Mode::legacy);
  CHECK_FALSE(attempt->begin({}));
  CHECK_FALSE(attempt->kubelet_was_replaced());
  std::ofstream(fixture.kubelet) << "";
  CHECK(attempt->kubelet_was_replaced());
  const auto next = fixture.attempt(Mode::legacy);
  (void)next->begin({});  // no kubelet answers
  CHECK_FALSE(next->kubelet_was_replaced());
  std::filesystem::remove(fixture.kubelet);
  CHECK_FALSE(next->kubelet_was_replaced());
  std::ofstream(fixture.folder.path() / "new") << "";
  std::filesystem::rename(fixture.folder.path() / "new", fixture.kubelet);
  CHECK(next->kubelet_was_replaced());
}

TEST_CASE("with the plugin watcher it is no matter which kubelet listens") {
  AttemptFixture fixture;
  const auto attempt = fixture.attempt(Mode::watcher);
  REQUIRE(attempt->begin({}));
  std::ofstream(fixture.kubelet) << "";
  CHECK_FALSE(attempt->kubelet_was_replaced());
}

TEST_CASE("a folder that is not there is an error, and the wait ends with its deadline or a ring") {
  AttemptFixture fixture;
  RegistrationAttempt attempt({fixture.state, fixture.service}, fixture.pool.name(), Mode::watcher,
                              fixture.folder.path() / "none");
  CHECK(attempt.begin({}).error().code() == Code::not_found);
  CHECK_FALSE(attempt.is_in_place());
  attempt.wait(Deadline::in(Duration(0)));
  fixture.state.wake().ring();
  const Deadline late = Deadline::in(Duration(60'000));
  attempt.wait(late);
  CHECK_FALSE(late.passed());
}

}  // namespace
}  // namespace ibpod::kube
