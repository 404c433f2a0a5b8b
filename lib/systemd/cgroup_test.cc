#include "lib/systemd/cgroup.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::systemd {
namespace {

TEST_CASE("a process' cgroup is the line of v2, beside those of v1") {
  const TempFolder proc;
  std::filesystem::create_directory(proc.path() / "7");
  proc.write("7/cgroup", "3:memory:/other\n1:name=systemd:/a\n0::/system.slice/ibpod-sm.service\n");
  CHECK(cgroup_of(7, proc.path()).value() == "/system.slice/ibpod-sm.service");
  proc.write("7/cgroup", "3:memory:/other\n");
  CHECK(cgroup_of(7, proc.path()).error().code() == Code::unsupported);
  CHECK(cgroup_of(8, proc.path()).error().code() == Code::not_found);
}

TEST_CASE(
    "a cgroup is within itself and those above it, not within one whose name it begins with") {
  CHECK(is_within("/a/b", "/a/b"));
  CHECK(is_within("/a/b/c", "/a/b"));
  CHECK(is_within("/a", "/"));
  CHECK_FALSE(is_within("/a/bc", "/a/b"));
  CHECK_FALSE(is_within("/a", "/a/b"));
}

TEST_CASE("a service's cgroup names its unit and its slice") {
  using Unit = ServiceUnit;
  CHECK(service_of("/system.slice/ibpod-sm.service") == Unit{"ibpod-sm.service", "system.slice"});
  CHECK(service_of("/a.slice/a-b.slice/x@y.service") == Unit{"x@y.service", "a-b.slice"});
  CHECK(service_of("/x.service") == Unit{"x.service", "-.slice"});
  for (const char* other : {"/", "/init.scope", "/system.slice", "/kubepods.slice/cri-1.scope",
                            "/system.slice/x.service/below", "/system.slice/.service"}) {
    CAPTURE(other);
    CHECK_FALSE(service_of(other));
  }
}

TEST_CASE("a memory limit is a number of bytes, or there is none") {
  const TempFolder mount;
  std::filesystem::create_directories(mount.path() / "s" / "x");
  CHECK_FALSE(memory_limit("/s/x", mount.path()));
  mount.write("s/x/memory.max", "max\n");
  CHECK_FALSE(memory_limit("/s/x", mount.path()));
  mount.write("s/x/memory.max", "1073741824\n");
  CHECK(memory_limit("/s/x", mount.path()) == 1073741824U);
}

}  // namespace
}  // namespace ibpod::systemd
