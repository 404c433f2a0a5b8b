#include "sm/opensm/opensm_cgroup.h"

#include "sm/opensm/test_opensm.h"

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

TEST_CASE("OpenSM gets a scope when it is in the cgroup of ibpod-sm's service, or below it") {
  const std::string ours = "/system.slice/ibpod-sm.service";
  CHECK(scope_name(ours, ours, 7) == "ibpod-sm-opensm-7.scope");
  CHECK(scope_name(ours, ours + "/below", 7) == "ibpod-sm-opensm-7.scope");
  CHECK(scope_name("/ib.slice/east.service", "/ib.slice/east.service", 8) == "east-opensm-8.scope");
  CHECK_FALSE(scope_name(ours, "/system.slice/ibpod-sm-opensm-6.scope", 7));
  CHECK_FALSE(scope_name(ours, "/system.slice/opensm.service", 7));
  CHECK_FALSE(scope_name("/", "/", 7));
  CHECK_FALSE(scope_name("/user.slice/session-1.scope", "/user.slice/session-1.scope", 7));
}

TEST_CASE("only the owner can read OpenSM's folder, whatever mode its cache had") {
  test::OpenSmBed bed;
  std::filesystem::permissions(bed.paths().cache, std::filesystem::perms::all);
  bed.serve();
  const auto mode = [](const Path& path) { return std::filesystem::status(path).permissions(); };
  CHECK(mode(bed.paths().cache) == std::filesystem::perms::owner_all);
  using std::filesystem::perms;
  for (const Path& file : {bed.paths().conf, bed.paths().modules, bed.paths().partitions}) {
    CAPTURE(file);
    CHECK(mode(file) == (perms::owner_read | perms::owner_write));
  }
}

TEST_CASE("an OpenSM that was started or found again is put into a cgroup of its own") {
  test::OpenSmBed bed;
  std::vector<pid_t> asked;
  Status answer = ok();
  bed.settings.supervisor.separate = [&](pid_t opensm) {
    asked.push_back(opensm);
    return answer;
  };
  bed.serve();
  const pid_t pid = bed.pid();
  CHECK(asked == std::vector<pid_t>{pid});
  CHECK(bed.engine->status().shared_cgroup == "");
  bed.engine.reset();
  answer = Error(Code::unavailable, "it shares ours");
  bed.start();
  bed.engine->apply(1, engine::test::with_tenant(1));
  const engine::EngineStatus now = bed.until(engine::Health::serving);
  CHECK(asked == std::vector<pid_t>{pid, pid});
  CHECK(now.shared_cgroup == "it shares ours");
  CHECK(now.trouble == "");
}

TEST_CASE("an OpenSM that could not be put into a cgroup of its own is tried again") {
  test::OpenSmBed bed;
  int tries = 0;
  bed.settings.supervisor.recheck = Duration(10);
  bed.settings.supervisor.separate = [&](pid_t) {
    return ++tries < 3 ? Status(Error(Code::unavailable, "systemd did not move OpenSM")) : ok();
  };
  bed.start();
  bed.engine->apply(1, engine::test::with_tenant(1));
  bed.until([](const engine::EngineStatus& now) { return !now.shared_cgroup.empty(); });
  bed.until([](const engine::EngineStatus& now) { return now.shared_cgroup.empty(); });
  bed.engine.reset();
  CHECK(tries == 3);
}

}  // namespace
}  // namespace ibpod::sm::opensm
