#include "sm/opensm/file_versions.h"

#include <random>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

// A version that is written, placed and swept.
FileVersions swept(uint64_t version) {
  FileVersions versions;
  versions.want(version);
  versions.write(version);
  versions.place();
  versions.note_swept();
  return versions;
}

TEST_CASE("a version waits until it is written, and is swept only after it was placed") {
  FileVersions versions = swept(1);
  versions.want(3);
  versions.want(2);
  CHECK(versions.wanted() == 3);
  CHECK(versions.waits());
  versions.write(3);
  CHECK(!versions.waits());
  versions.note_swept();
  CHECK(versions.swept() == 1);
  versions.place();
  CHECK(versions.placed() == 3);
  CHECK(versions.swept() == 1);
  versions.note_swept();
  CHECK(versions.swept() == 3);
}

TEST_CASE("a version has waited for a sweep when a second one begins after it was wanted") {
  FileVersions versions = swept(1);
  for (int i = 0; i < 3; ++i) versions.note_begin();
  versions.want(2);
  versions.note_begin();
  CHECK(!versions.waited());
  versions.want(3);  // does not begin the wait again
  versions.note_begin();
  CHECK(versions.waited());
  versions.write(3);
  CHECK(!versions.waited());
}

TEST_CASE("while a foreign file is in place, nothing is placed, until ours is written again") {
  FileVersions versions = swept(1);
  CHECK(versions.find_foreign());
  CHECK(!versions.find_foreign());
  versions.discard();
  versions.place();
  CHECK(!versions.ours());
  CHECK(versions.placed() == 0);
  CHECK(versions.swept() == 0);
  versions.restore();
  CHECK(versions.ours());
  versions.place();
  CHECK(versions.placed() == 1);
  CHECK(versions.find_foreign());
}

TEST_CASE("a discarded file stays placed, and is discarded until a sweep has read a good one") {
  FileVersions versions = swept(1);
  versions.discard();
  CHECK(!versions.ours());
  CHECK(versions.placed() == 1);
  CHECK(versions.swept() == 0);
  versions.restore();
  CHECK(versions.ours());
  CHECK(versions.discarded());
  versions.note_swept();
  CHECK(!versions.discarded());
}

TEST_CASE("a sweep of an OpenSM that is found may have read what was placed when the last ended") {
  for (const bool running : {false, true}) {
    FileVersions versions = swept(1);
    versions.note_end();
    versions.want(2);
    versions.write(2);
    versions.place();
    versions.note_swept();
    versions.adopt(running);
    CHECK(versions.placed() == (running ? 1 : 2));
    CHECK(versions.swept() == versions.placed());
  }
}

TEST_CASE("in any order: swept <= placed <= wanted") {
  std::mt19937 random(1);
  FileVersions versions;
  for (int i = 0; i < 20000; ++i) {
    switch (random() % 11) {
      case 0:
        versions.want(versions.wanted() + random() % 3);
        break;
      case 1:
        versions.write(versions.wanted());
        break;
      case 2:
        versions.restore();
        break;
      case 3:
        versions.find_foreign();
        break;
      case 4:
        versions.discard();
        break;
      case 5:
        versions.note_begin();
        break;
      case 6:
        versions.note_swept();
        break;
      case 7:
        versions.invalidate_swept();
        break;
      case 8:
        versions.note_end();
        break;
      case 9:
        versions.adopt(random() % 2 == 0);
        break;
      default:
        versions.place();
    }
    CHECK(versions.swept() <= versions.placed());
    CHECK(versions.placed() <= versions.wanted());
  }
}

}  // namespace
}  // namespace ibpod::sm::opensm
