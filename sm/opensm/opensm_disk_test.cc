#include "sm/opensm/test_opensm.h"

namespace ibpod::sm::opensm {
namespace {

using engine::test::with_tenant;
using test::OpenSmBed;

// Step n and some of the following ones fail.
class SickDisk final : public Disk {
 public:
  SickDisk(int from, int steps) : from_(from), to_(from + steps) {}
  Result<std::string> read(const Path& path) override {
    return sick() ? Error(Code::internal, "read: Input/output error") : Disk::read(path);
  }
  Status write(const Path& path, std::string_view content) override {
    return sick() ? Error(Code::internal, "write: Input/output error") : Disk::write(path, content);
  }
  Status replace(const Path& from, const Path& to) override {
    return sick() ? Error(Code::internal, "rename: Input/output error") : Disk::replace(from, to);
  }
  Result<bool> exchange(const Path& one, const Path& other) override {
    return sick() ? Error(Code::internal, "rename: Input/output error")
                  : Disk::exchange(one, other);
  }

 private:
  bool sick() {
    const int step = step_++;
    return step >= from_ && step < to_;
  }
  int from_, to_;
  int step_ = 0;
};

TEST_CASE(
    "whichever step of the disk fails, OpenSM reads no bad file, and gets the version in the end") {
  constexpr int kSteps = 14;
  for (int step = 0; step < kSteps; step += 3) {
    for (const int many : {1, 4}) {
      CAPTURE(step);
      OpenSmBed bed;
      bed.settings.limits.calm = Duration(10);
      auto started =
          OpenSm::start(bed.settings, bed.bell.rung(), std::make_unique<SickDisk>(3 + step, many));
      REQUIRE(started);
      bed.engine = std::move(started).value();
      bed.engine->apply(1, engine::test::with_tenant(1));
      bed.until_swept(1);
      bed.engine->apply(2, engine::test::with_tenant(2));
      const uint64_t before = bed.until_swept(2).restores;
      bed.replace("x\n");
      bed.until(
          [&](const engine::EngineStatus& now) { return now.restores > before && now.swept == 2; });
      CHECK(bed.bad_readings() == 0);
      CHECK(fabric::read_partitions_conf(bed.text(), {true, false}).ok());
    }
  }
}

TEST_CASE("OpenSM is not started on a file that could not be put back") {
  OpenSmBed bed;
  bed.settings.limits.calm = Duration(10);
  bed.settings.supervisor.pause = Duration(10);
  bed.serve();
  bed.folder.block(bed.paths().partitions);
  bed.until(engine::Health::refused);
  OpenSmBed::end(bed.pid(), SIGKILL);
  bed.until(engine::Health::gone);
  CHECK(bed.engine->status().starts == 1);
  CHECK(!bed.find());
  std::filesystem::remove_all(bed.paths().partitions);
  bed.until_swept(1);
  CHECK(bed.bad_readings() == 0);
}

}  // namespace
}  // namespace ibpod::sm::opensm
