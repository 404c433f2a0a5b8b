// Files, programs and network namespaces as another mount namespace has them: what an agent in a
// container has to see of its host.
#include "device-plugin/cdi.h"
#include "device-plugin/test_devices.h"
#include "lib/base/process.h"
#include "lib/base/run_on_thread.h"
#include "lib/netns/netns_status.h"
#include "lib/node/listing.h"
#include "tests/netns/host.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/mount.h>

namespace ibpod {
namespace {

using netns::NetNs;
using netns::netns_status;
using netns::NetnsStatus;

constexpr Duration kLong{20'000};

void mount_tmpfs(const Path& folder) {
  sys("mount", [&] { return ::mount("none", folder.c_str(), "tmpfs", 0, nullptr); }).value();
}

std::string read_there(const Path& file, const Path& mount_namespace) {
  std::string content;
  const Status read = run_in_mount_namespace(mount_namespace, "read", [&]() -> Status {
    content = TRY(read_file(file));
    return ok();
  });
  return read ? content : read.error().text();
}

// A folder in which another mount namespace has something else: a script "program" that says
// "there" and the folder it runs in.
struct Two {
  TempFolder folder;
  Path program = folder.script("program", "echo here");
  Mounts other{[this] {
    mount_tmpfs(folder.path());
    folder.script("program", "echo there; pwd");
  }};
};

TEST_CASE("work in another mount namespace finds its files, and its caller stays where it is") {
  const Two two;
  CHECK(read_there(two.program, two.other.path()) == "#!/bin/sh\necho there; pwd\n");
  CHECK(read_there(two.program, "") == "#!/bin/sh\necho here\n");
}

TEST_CASE("an absolute link leads where it leads in that mount namespace") {
  const Two two;
  const TempFolder links;
  std::filesystem::create_symlink(two.folder.path(), links.path() / "link");
  CHECK(read_there(links.path() / "link/program", two.other.path()).find("there") !=
        std::string::npos);
}

TEST_CASE("a program is looked up and runs in the mount namespace that the command names") {
  const Two two;
  const Deadline deadline = Deadline::in(kLong);
  CHECK(run({two.program, {{"PATH", "/bin"}}, ""}, deadline)->output == "here\n");
  CHECK(run({two.program, {{"PATH", "/bin"}}, "", two.other.path()}, deadline)->output ==
        "there\n/\n");
}

TEST_CASE("a mount namespace that is none is told, by work and by programs") {
  const TempFolder folder;
  const Path program = folder.script("program", "");
  const auto run_in = [&](const Path& mount_namespace) {
    return run({program, {}, "", mount_namespace}, Deadline::in(kLong)).error();
  };
  CHECK(run_in("/nowhere").text() ==
        "run " + program.string() + ": open /nowhere: No such file or directory");
  CHECK(run_in(program).text() ==
        "run " + program.string() + ": join its mount namespace: Invalid argument");
  const auto work = [] { return ok(); };
  CHECK(run_in_mount_namespace("/nowhere", "look", work).error().code() == Code::not_found);
  CHECK(run_in_mount_namespace(program, "look", work).error().code() == Code::invalid);
}

// A pod's namespace, mounted on a file in one mount namespace alone.
struct Pod {
  TempFolder folder;
  Path path = folder.write("pod1", "");
  NetNs netns = fresh_namespace();
  netns::Identity identity = netns.identity().value();
  Mounts host{[this] { mount_netns(netns, path); }};
};

TEST_CASE("a namespace whose mount has not reached us is there for its host, and unclear for us") {
  const Pod pod;
  CHECK(*netns_status(pod.path, pod.identity, pod.host.path()) == NetnsStatus::same);
  CHECK(*netns_status(pod.path, pod.identity, "") == NetnsStatus::unclear);
}

TEST_CASE(
    "the sysfs of a pod whose mount has not reached us is its own, by its host's mounts alone") {
  const Pod pod;
  nl::Socket inside = nl::Socket::open_in(pod.netns.fd(), nl::Family::route).value();
  add_pair(inside);
  const auto names = [](const node::Namespace& where, const Path& mount_namespace) {
    return node::open_pod_sysfs(where, mount_namespace)->list("class/net").value();
  };
  CHECK(names({pod.path, pod.identity}, pod.host.path()) ==
        std::vector<std::string>{"host0", "host1", "lo"});
  CHECK(node::open_pod_sysfs({pod.path, pod.identity}, "").error().code() == Code::not_found);
  const netns::Identity other = fresh_namespace().identity().value();
  CHECK(node::open_pod_sysfs({pod.path, other}, pod.host.path()).error().code() == Code::not_found);
}

TEST_CASE("others' CDI files are looked for where the runtime has them") {
  const TempFolder ours, others;
  const Mounts host([&] {
    mount_tmpfs(others.path());
    others.write("x.json", R"({"kind":"example.com/ib","devices":[{"name":"0000:3b:00.1"}]})");
  });
  device_plugin::Pool pool;
  pool.prefix = "example.com";
  const auto stocks = device_plugin::assign({pool}, device_plugin::test_node(1, 1));
  CHECK(device_plugin::tidy_cdi({ours.path(), "ibpod", {others.path()}, ""}, stocks));
  const Status clash =
      device_plugin::tidy_cdi({ours.path(), "ibpod", {others.path()}, host.path()}, stocks);
  CHECK(clash.error().code() == Code::exists);
}

TEST_CASE("a namespace in a folder that we do not have is unclear, and so is a link into it") {
  const TempFolder folder;
  std::filesystem::create_symlink(folder.path() / "netns/pod1", folder.path() / "link");
  const netns::Identity identity = fresh_namespace().identity().value();
  CHECK(*netns_status(folder.path() / "netns/pod1", identity, "") == NetnsStatus::unclear);
  CHECK(*netns_status(folder.path() / "link", identity, "") == NetnsStatus::unclear);
}

TEST_CASE("a path that is no more, or is another namespace's, says that the namespace is gone") {
  const Pod pod;
  const NetNs another = fresh_namespace();
  const Mounts later([&] {
    std::filesystem::remove(pod.path);
    mount_netns(another, pod.folder.write("pod2", ""));
  });
  CHECK(*netns_status(pod.path, pod.identity, later.path()) == NetnsStatus::gone);
  CHECK(*netns_status(pod.folder.path() / "pod2", pod.identity, later.path()) == NetnsStatus::gone);
  CHECK(*netns_status("/proc/thread-self/ns/uts", pod.identity, later.path()) == NetnsStatus::gone);
  CHECK(*netns_status("/proc/4194305/ns/net", pod.identity, later.path()) == NetnsStatus::gone);
}

TEST_CASE("what cannot be looked at is an error, and no verdict") {
  const Pod pod;
  CHECK(netns_status("pod1", pod.identity, "").error().code() == Code::invalid);
  CHECK(netns_status("", pod.identity, "").error().code() == Code::invalid);
  CHECK(!netns_status(pod.path / "below", pod.identity, ""));
  CHECK(!netns_status("/" + std::string(5000, 'x'), pod.identity, ""));
  CHECK(!netns_status(pod.path, pod.identity, "/nowhere"));
}

}  // namespace
}  // namespace ibpod
