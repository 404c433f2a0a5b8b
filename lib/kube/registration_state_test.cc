#include "lib/kube/registration_state.h"

#include <doctest/doctest.h>

namespace ibpod::kube {
namespace {

struct StandingBed {
  int told = 0;
  Standing standing{Wake::open().value(), [this](const Registration&) { ++told; }};
  StandingBed() { standing.begin(Mode::watcher); }
};

TEST_CASE("registered is: accepted and listened to, whichever comes first") {
  for (const bool listens_first : {false, true}) {
    StandingBed bed;
    listens_first ? bed.standing.listening() : bed.standing.accepted();
    CHECK_FALSE(bed.standing.registered());
    CHECK_FALSE(bed.standing.failed());
    listens_first ? bed.standing.accepted() : bed.standing.listening();
    CHECK(bed.standing.registered());
    CHECK(bed.told == 3);
  }
}

TEST_CASE("with the last stream the registration is lost, not before") {
  StandingBed bed;
  bed.standing.accepted();
  bed.standing.listening();
  bed.standing.listening();
  bed.standing.hung_up();
  CHECK(bed.standing.registered());
  bed.standing.hung_up();
  CHECK_FALSE(bed.standing.registered());
  CHECK(bed.standing.failed());
  CHECK(bed.standing.registration().last_error->text() == "the kubelet no longer listens");
}

TEST_CASE("a refusal is remembered, and made good by what comes later") {
  StandingBed bed;
  bed.standing.refused(Error(Code::internal, "no"));
  CHECK(bed.standing.failed());
  bed.standing.listening();
  bed.standing.accepted();
  CHECK(bed.standing.registered());
  CHECK_FALSE(bed.standing.failed());
  CHECK(bed.standing.registration().last_error->text() == "no");
}

TEST_CASE("a stream that ended before the word of acceptance came is lost all the same") {
  StandingBed bed;
  bed.standing.listening();
  bed.standing.hung_up();
  bed.standing.accepted();
  CHECK(bed.standing.failed());
}

TEST_CASE("a new attempt begins with nothing") {
  StandingBed bed;
  bed.standing.refused(Error(Code::internal, "no"));
  bed.standing.begin(Mode::legacy);
  CHECK_FALSE(bed.standing.failed());
  CHECK(bed.standing.registration().attempts == 2);
  CHECK(bed.standing.registration().mode == Mode::legacy);
}

}  // namespace
}  // namespace ibpod::kube
