// After any failure of the store, all promised changes are in it.
#include "lib/base/fd.h"
#include "sm/state/sqlite_store.h"
#include "tests/support/registry_fixture.h"
#include "tests/support/temp_folder.h"

#include <csignal>
#include <functional>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::sm::state {
namespace {

using namespace test;

using Objects = std::map<state::RecordKind, std::map<std::string, std::string>>;
using Step = std::function<Status(Registries&)>;

constexpr Now kNow{};

template <typename Value>
Status outcome(const Result<Value>& result) {
  return result ? ok() : Status(result.error());
}

// All bindings are verified.
Status see_all(Registries& registry) {
  registry.bindings.note_written(registry.journal.version(), kNow);
  registry.partitions.note_swept(registry.journal.version());
  const std::set<ib::Guid> unsettled = registry.bindings.unsettled();
  for (const ib::Guid guid : unsettled)
    registry.bindings.note_verified(guid, registry.journal.version(), Proof::port, {}, kNow);
  return ok();
}

Step bind(const BindRequest& request) {
  return [=](Registries& l) {
    return outcome(l.bindings.bind(administrator(), request, absent(), kNow));
  };
}
Step unbind(const BindRequest& request) {
  return [=](Registries& l) { return outcome(l.bindings.unbind(request.attachment, kNow)); };
}
// If the result of a commit was unknown, its changes are found.
Step create(const Partition& partition) {
  return [=](Registries& l) {
    if (l.partitions.view().find(partition.name)) return ok();
    return outcome(l.partitions.create(partition));
  };
}
Step remove(const std::string& name) {
  return [=](Registries& l) {
    return l.partitions.view().find(name) ? outcome(l.partitions.remove(name)) : ok();
  };
}

// Every kind of change, each committed by itself. Each may be done twice.
std::vector<Step> steps() {
  const auto a = [](std::vector<BindRequest::PartitionRequest> wishes) {
    return request("n1", "a", vf(1), std::move(wishes));
  };
  Partition red = make_partition("red", 0x101);
  red.members = {{storage(1), kFull, ""}};
  return {
      create(make_partition("blue", 0x100)),
      create(red),
      create(make_partition("automatic", 0)),
      bind(a({{"blue", kLimited}})),
      bind(child("n2", "b", pf(2), {{"blue", kLimited}})),
      see_all,
      bind(a({{"red", kLimited}, {"automatic", kLimited}})),
      see_all,
      see_all,
      [](Registries& l) {
        return outcome(l.nodes.allocate({"n3", "0000:01:00.0", {0, 1}}));
      },
      bind(request("n3", "c", vf(0x1000), {{"blue", kLimited}})),
      unbind(child("n2", "b", pf(2), {})),
      see_all,
      [](Registries& l) {
        return l.nodes.find("n3") ? outcome(l.nodes.forget({"n3", true}, kNow)) : ok();
      },
      see_all,
      unbind(a({})),
      see_all,
      remove("red"),
      see_all,
      [](Registries& l) {
        return outcome(
            l.partitions.declarations().declare({make_partition("declared", 0x102)}, kNow));
      },
      [](Registries& l) { return outcome(l.partitions.declarations().declare({}, kNow)); },
      see_all,
      bind(a({{"blue", kBoth}})),
  };
}

void check_same(const Registries& registry, state::Store& store) {
  const auto reread = Registries::load(store, policy(), kNow).value();
  CHECK(*registry.partitions.view().definitions() == *reread->partitions.view().definitions());
  auto listed = registry.bindings.list({}, {}).value().items;
  const auto desired = reread->bindings.list({}, {}).value().items;
  REQUIRE(listed.size() == desired.size());
  for (size_t i = 0; i < desired.size(); ++i) {
    CHECK(listed[i].desired == desired[i].desired);
    CHECK(listed[i].applied == desired[i].applied);
    CHECK((listed[i].state == BindingState::releasing) ==
          (desired[i].state == BindingState::releasing));
    CHECK(expected_table(registry, listed[i].guid).pending_removal ==
          expected_table(*reread, listed[i].guid).pending_removal);
  }
}

TEST_CASE("whichever commit fails, and however: what is there is promised, and it can go on") {
  using Failure = FakeStore::Failure;
  Objects after;
  for (const bool restarted : {false, true})
    for (const Failure how : {Failure::full, Failure::lost, Failure::kept})
      for (size_t n = 0;; ++n) {
        FakeStore store;
        auto registry = Registries::load(store, policy(), kNow).value();
        store.fail_at(n, how);
        bool failed = false;
        for (const Step& step : steps()) {
          CAPTURE(n);
          REQUIRE(step(*registry));
          const uint64_t version = registry->journal.version();
          if (registry->journal.commit(kNow).status) continue;
          failed = true;
          CHECK(registry->journal.version() > version);
          if (restarted) registry = Registries::load(store, policy(), kNow).value();
          check_same(*registry, store);
          REQUIRE(step(*registry));
          REQUIRE(registry->journal.commit(kNow).status);
          check_same(*registry, store);
        }
        // A restarted registry needs its observations again.
        for (int i = 0; i < 3; ++i) REQUIRE(see_all(*registry));
        REQUIRE(registry->journal.commit(kNow).status);
        if (after.empty()) after = store.objects;
        if (how == Failure::kept || !failed) {
          CHECK(store.objects[state::RecordKind::binding].size() ==
                after[state::RecordKind::binding].size());
        } else {
          CHECK(store.objects[state::RecordKind::binding] == after[state::RecordKind::binding]);
        }
        CHECK(store.objects[state::RecordKind::partition] == after[state::RecordKind::partition]);
        CHECK(store.objects[state::RecordKind::guid] == after[state::RecordKind::guid]);
        CHECK(store.objects[state::RecordKind::node] == after[state::RecordKind::node]);
        if (!failed) {
          CHECK(n > 15);
          break;
        }
      }
}

TEST_CASE("observations are kept when the commit of another request fails") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  const BindRequest b = request("n1", "b", vf(2), {{"blue", kLimited}});
  const BindRequest c = request("n1", "c", vf(3), {{"red", kLimited}});
  bed.bind(a);
  bed.bind(b);
  bed.settle();
  bed.registry->journal.take_changes();
  const uint64_t seen = bed.registry->bindings.changed_in(vf(1));
  bed.store.fail_at(0, FakeStore::Failure::full);
  REQUIRE(bed.try_bind(c));
  REQUIRE(bed.registry->bindings.unbind(b.attachment, bed.now));
  const Status failed = bed.registry->journal.commit(bed.now).status;
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == Code::unavailable);
  CHECK(bed.state(a) == BindingState::verified);
  CHECK(bed.state(b) == BindingState::requested);
  CHECK(bed.state(c) == BindingState::released);
  CHECK(bed.registry->bindings.changed_in(vf(1)) == seen);
  CHECK(bed.registry->bindings.changed_in(vf(2)) > seen);
  CHECK(bed.state("blue") == PartitionState::ready);
  const auto changes = bed.registry->journal.take_changes();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].binding == *bed.binding(b));
  CHECK(changes[1].gone);
  bed.bind(c);
}

TEST_CASE("a store that cannot be read again: nothing is promised, and what was stays in force") {
  Fixture bed;
  const BindRequest a = request("n1", "a", vf(1), {{"blue", kLimited}});
  bed.bind(a);
  const auto rendered = bed.registry->partitions.view().definitions();
  REQUIRE(bed.try_bind(request("n1", "b", vf(2), {{"blue", kLimited}})));
  bed.store.fail_at(0, FakeStore::Failure::lost);
  bed.store.unreadable(true);
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  CHECK(bed.registry->partitions.view().definitions() == rendered);
  CHECK(bed.refusal(a).code() == Code::unavailable);
  CHECK(bed.registry->bindings.unbind(a.attachment, bed.now).error().code() == Code::unavailable);
  CHECK(bed.registry->bindings.expire(bed.now).error().code() == Code::unavailable);
  CHECK_FALSE(bed.see_without_commit(vf(1)));
  CHECK_FALSE(bed.registry->journal.commit(bed.now).status);
  bed.store.unreadable(false);
  CHECK(bed.registry->journal.commit(bed.now).status);
  CHECK(*bed.registry->partitions.view().definitions() == *rendered);
  CHECK(bed.registry->journal.version() > 1);
  CHECK(bed.state(request("n1", "b", vf(2), {})) == BindingState::released);
  bed.bind(request("n1", "b", vf(2), {{"blue", kLimited}}));
}

// --- a real file, and a process that is killed at one of its writes

size_t writes_left = 0;
bool torn = false;

ssize_t last_write(int fd, const void* bytes, size_t size, off_t offset) {
  if (writes_left-- == 0) {
    if (torn) (void)!::pwrite(fd, bytes, size / 2, offset);
    ::raise(SIGKILL);
  }
  return ::pwrite(fd, bytes, size, offset);
}

int last_truncation(int fd, off_t size) {
  if (writes_left-- == 0) ::raise(SIGKILL);
  return ::ftruncate(fd, size);
}

void kill_at_write(size_t n) {
  writes_left = n;
  sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): as SQLite has it.
  for (const char* const call : {"pwrite", "pwrite64"})
    vfs->xSetSystemCall(vfs, call, reinterpret_cast<sqlite3_syscall_ptr>(last_write));
  vfs->xSetSystemCall(vfs, "ftruncate", reinterpret_cast<sqlite3_syscall_ptr>(last_truncation));
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
}

// Writes one byte for each completed step.
void run(const Path& file, int done) {
  const auto store = state::SqliteStore::open(file);
  if (!store) ::_exit(2);
  const auto registry = Registries::load(**store, policy(), kNow);
  if (!registry) ::_exit(3);
  for (const Step& step : steps()) {
    if (!step(**registry)) ::_exit(4);
    if (!(*registry)->journal.commit(kNow).status) ::_exit(5);
    (void)!::write(done, "", 1);
  }
  ::_exit(0);
}

struct Ended {
  int status = 0;
  size_t done = 0;
};
Ended run_until_killed(const Path& file, size_t n) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    kill_at_write(n);
    run(file, writing.get());
  }
  writing = Fd();
  Ended ended;
  char byte = 0;
  while (::read(reading.get(), &byte, 1) == 1) ++ended.done;
  ::waitpid(child, &ended.status, 0);
  return ended;
}

// The store's content after each step.
std::vector<Objects> after_steps() {
  FakeStore store;
  const auto registry = Registries::load(store, policy(), kNow).value();
  std::vector<Objects> all{store.objects};
  for (const Step& step : steps()) {
    REQUIRE(step(*registry));
    REQUIRE(registry->journal.commit(kNow).status);
    all.push_back(store.objects);
  }
  return all;
}

bool holds(state::Store& store, Objects objects) {
  for (const state::RecordKind kind :
       {state::RecordKind::partition, state::RecordKind::binding, state::RecordKind::node,
        state::RecordKind::guid, state::RecordKind::range})
    if (store.all(kind).value() != objects[kind]) return false;
  return true;
}

TEST_CASE("a process that is killed at any write has all that it had answered, or one step more") {
  const std::vector<Objects> after = after_steps();
  size_t killed = 0;
  for (const bool half : {false, true}) {
    torn = half;
    for (size_t n = 0;; ++n) {
      CAPTURE(n);
      const TempFolder folder(
          "/dev/shm");  // what a process has written survives it, flushed or not
      const Ended ended = run_until_killed(folder.path() / "store", n);
      const auto store = state::SqliteStore::open(folder.path() / "store");
      REQUIRE(store);
      const bool all_answered = holds(**store, after[ended.done]);
      REQUIRE((all_answered || holds(**store, after.at(ended.done + 1))));
      REQUIRE(Registries::load(**store, policy(), kNow));
      if (WIFEXITED(ended.status)) {
        REQUIRE(WEXITSTATUS(ended.status) == 0);
        CHECK(ended.done == steps().size());
        break;
      }
      ++killed;
    }
  }
  CHECK(killed > 4 * steps().size());
}

}  // namespace
}  // namespace ibpod::sm::state
