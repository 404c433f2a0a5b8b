#include "lib/kube/registration_state.h"

#include <doctest/doctest.h>

namespace ibpod::kube {
namespace {

struct RegistrationStateFixture {
  int changes = 0;
  RegistrationState state{Wake::open().value(), [this](const Registration&) { ++changes; }};
  RegistrationStateFixture() { state.begin(Mode::watcher); }
};

TEST_CASE("registered is: accepted and listened to, whichever comes first") {
  for (const bool listens_first : {false, true}) {
    RegistrationStateFixture fixture;
    listens_first ? fixture.state.listening() : fixture.state.accepted();
    CHECK_FALSE(fixture.state.registered());
    CHECK_FALSE(fixture.state.failed());
    listens_first ? fixture.state.accepted() : fixture.state.listening();
    CHECK(fixture.state.registered());
    CHECK(fixture.changes == 3);
  }
}

TEST_CASE("with the last stream the registration is lost, not before") {
  RegistrationStateFixture fixture;
  fixture.state.accepted();
  fixture.state.listening();
  fixture.state.listening();
  fixture.state.hung_up();
  CHECK(fixture.state.registered());
  fixture.state.hung_up();
  CHECK_FALSE(fixture.state.registered());
  CHECK(fixture.state.failed());
  CHECK(fixture.state.registration().last_error->text() == "the kubelet no longer listens");
}

TEST_CASE("a refusal is remembered, and made good by what comes later") {
  RegistrationStateFixture fixture;
  fixture.state.refused(Error(Code::internal, "no"));
  CHECK(fixture.state.failed());
  fixture.state.listening();
  fixture.state.accepted();
  CHECK(fixture.state.registered());
  CHECK_FALSE(fixture.state.failed());
  CHECK(fixture.state.registration().last_error->text() == "no");
}

TEST_CASE("a stream that ended before the word of acceptance came is lost all the same") {
  RegistrationStateFixture fixture;
  fixture.state.listening();
  fixture.state.hung_up();
  fixture.state.accepted();
  CHECK(fixture.state.failed());
}

TEST_CASE("a new attempt begins with nothing") {
  RegistrationStateFixture fixture;
  fixture.state.refused(Error(Code::internal, "no"));
  fixture.state.begin(Mode::legacy);
  CHECK_FALSE(fixture.state.failed());
  CHECK(fixture.state.registration().attempts == 2);
  CHECK(fixture.state.registration().mode == Mode::legacy);
}

}  // namespace
}  // namespace ibpod::kube
