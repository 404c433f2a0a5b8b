#include "sm/state/sqlite_store.h"
#include "tests/support/temp_folder.h"

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::sm::state {
namespace {

using Objects = std::map<std::string, std::string>;

struct Kept {
  TempFolder folder;
  Path file = folder.path() / "store";
  std::unique_ptr<SqliteStore> open() const { return SqliteStore::open(file).value(); }
  Error refusal() const { return SqliteStore::open(file).error(); }
  Objects all(RecordKind kind) const { return open()->all(kind).value(); }
};

// Runs it in a child process; returns its exit code, or minus the signal that ended it.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("what is committed is there again, by kind, and what has gone is not") {
  const Kept kept;
  const std::string bytes("\0\xff'", 3);
  REQUIRE(kept.open()->commit({{RecordKind::partition, "b", "1"},
                               {RecordKind::partition, "a", bytes},
                               {RecordKind::binding, "a", ""},
                               {RecordKind::node, "n", "3"}}));
  CHECK(kept.all(RecordKind::partition) == Objects{{"a", bytes}, {"b", "1"}});
  CHECK(kept.all(RecordKind::binding) == Objects{{"a", ""}});
  REQUIRE(kept.open()->commit({{RecordKind::partition, "b", "2"},
                               {RecordKind::partition, "a", std::nullopt},
                               {RecordKind::binding, "none", std::nullopt},
                               {RecordKind::node, "n", std::nullopt}}));
  CHECK(kept.all(RecordKind::partition) == Objects{{"b", "2"}});
  CHECK(kept.all(RecordKind::node).empty());
  CHECK(kept.all(RecordKind::guid).empty());
}

TEST_CASE("changes of one commit are made in their order") {
  const Kept kept;
  const auto store = kept.open();
  REQUIRE(store->commit({{RecordKind::guid, "a", "1"}, {RecordKind::guid, "a", std::nullopt}}));
  CHECK(store->all(RecordKind::guid).value().empty());
  REQUIRE(store->commit({{RecordKind::guid, "a", std::nullopt}, {RecordKind::guid, "a", "2"}}));
  CHECK(store->all(RecordKind::guid).value() == Objects{{"a", "2"}});
}

TEST_CASE("no other user may read the files") {
  const Kept kept;
  const auto store = kept.open();
  REQUIRE(store->commit({{RecordKind::node, "n", "1"}}));
  for (const auto& entry : std::filesystem::directory_iterator(kept.folder.path())) {
    struct stat found = {};
    REQUIRE(::stat(entry.path().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
  }
}

TEST_CASE("a process that is killed in a commit leaves all of it or nothing") {
  const Kept kept;
  std::vector<RecordChange> changes;
  for (int i = 0; i < 200; ++i) changes.push_back({RecordKind::binding, std::to_string(i), "x"});
  // The child is killed before, in and after the commit, until one is fast enough.
  int killed = 0;
  for (suseconds_t limit = 1;; limit += 50 + limit / 10) {
    CAPTURE(limit);
    for (RecordChange& change : changes) change.value = std::to_string(limit);
    const int end = in_child([&] {
      const auto store = SqliteStore::open(kept.file);
      if (!store) return 1;
      const itimerval soon{{0, 0}, {0, limit}};
      ::setitimer(ITIMER_REAL, &soon, nullptr);
      return (*store)->commit(changes).ok() ? 0 : 1;
    });
    const Objects left = kept.all(RecordKind::binding);
    REQUIRE((left.empty() || left.size() == changes.size()));
    for (const auto& [key, value] : left) REQUIRE(value == left.begin()->second);
    if (end == 0) break;
    REQUIRE(end == -SIGALRM);
    ++killed;
  }
  CHECK(killed > 0);
}

TEST_CASE("where the disk is full nothing is changed, and later it goes on") {
  const Kept kept;
  REQUIRE(kept.open()->commit({{RecordKind::node, "n", "before"}}));
  Database database = Database::open(kept.file).value();
  const int64_t pages = database.number("PRAGMA page_count").value();
  REQUIRE(database.number("PRAGMA max_page_count = " + std::to_string(pages)).value() == pages);
  const std::string put = "INSERT OR REPLACE INTO objects VALUES (3, 'n', zeroblob(1 << 20))";
  const Status refused = database.transaction([&] { return database.run(put); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(database.text("SELECT value FROM objects").value() == "before");
  REQUIRE(database.number("PRAGMA max_page_count = 100000"));
  CHECK(database.transaction([&] { return database.run(put); }));
}

// A pipe whose end closes when a process has reached a point, or has ended.
struct Signal {
  Fd reading, writing;
  Signal() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    reading = Fd(ends[0]);
    writing = Fd(ends[1]);
  }
  static void wait_for_end_of(Fd& end) {
    char byte = 0;
    while (::read(end.get(), &byte, 1) > 0) {
    }
  }
};

TEST_CASE("one process at a time has it, until it ends") {
  const Kept kept;
  Signal opened, over;
  const pid_t other = ::fork();
  if (other == 0) {
    over.writing = Fd();
    const auto store = SqliteStore::open(kept.file);
    opened.writing = Fd();
    Signal::wait_for_end_of(over.reading);
    ::_exit(store ? 0 : 1);
  }
  opened.writing = Fd();
  Signal::wait_for_end_of(opened.reading);
  CHECK(kept.refusal().code() == Code::busy);
  CHECK(kept.refusal().text().find("another ibpod-sm has it") != std::string::npos);
  over.writing = Fd();
  int status = -1;
  ::waitpid(other, &status, 0);
  CHECK(status == 0);
  CHECK(kept.open()->commit({{RecordKind::node, "n", "1"}}));
}

TEST_CASE("another program's database is left as it is") {
  const Kept kept;
  {
    Database foreign = Database::open(kept.file).value();
    REQUIRE(foreign.run("CREATE TABLE theirs (a)"));
  }
  const std::string before = read_file(kept.file).value();
  CHECK(kept.refusal().code() == Code::invalid);
  CHECK(read_file(kept.file).value() == before);
  CHECK(list_folder(kept.folder.path()).value() == std::vector<std::string>{"store"});
}

TEST_CASE("what is damaged, another program's or of a newer version is refused and left alone") {
  const Kept kept;
  std::vector<RecordChange> many;
  for (int i = 0; i < 500; ++i) many.push_back({RecordKind::binding, std::to_string(i), "value"});
  REQUIRE(kept.open()->commit(many));
  const std::string good = read_file(kept.file).value();

  const auto refused = [&](const std::string& content, Code code, const std::string& words) {
    std::ofstream(kept.file, std::ios::trunc) << content;
    const Error refusal = kept.refusal();
    CAPTURE(refusal.text());
    CHECK(refusal.code() == code);
    CHECK(refusal.text().find(words) != std::string::npos);
    CHECK(read_file(kept.file).value() == content);
  };
  std::string damaged = good;
  damaged.replace(4096 + 8, 64, 64, '\x55');
  refused(damaged, Code::internal, "restore it from a backup");
  refused(std::string(8192, 'x'), Code::internal, "not a database");
  // Big-endian in SQLite's header (sqlite.org/fileformat.html): user_version at 60, application_id
  // at 68.
  std::string newer = good;
  newer[63] = 2;
  refused(newer, Code::unsupported,
          kept.file.string() +
              ": version 2 is too new: this program reads up to version 1; run the newer ibpod "
              "that wrote it (the file is unchanged)");
  std::string negative = good;
  negative[60] = '\x80';
  refused(negative, Code::internal, "its version is negative");
  std::string foreign = good;
  foreign[68] = 1;
  refused(foreign, Code::invalid, "belongs to another program");
  std::ofstream(kept.file, std::ios::trunc) << good;
  CHECK(kept.all(RecordKind::binding).size() == 500);
}

// SQLite copies the journal to the file, as it would have done for that version.
TEST_CASE("what a newer version that was killed has in the journal is not lost to it") {
  const Kept kept;
  REQUIRE(kept.open());
  const int end = in_child([&]() -> int {
    Database database = Database::open(kept.file).value();
    const bool done = database.make_durable() && database.run("PRAGMA user_version = 2") &&
                      database.run("INSERT INTO objects VALUES (3, 'n', 'newer')");
    ::_exit(done ? 0 : 1);  // without closing the database
  });
  REQUIRE(end == 0);
  REQUIRE_FALSE(read_file(kept.file.string() + "-wal")->empty());
  CHECK(kept.refusal().code() == Code::unsupported);
  Database left = Database::open(kept.file).value();
  CHECK(left.number("PRAGMA user_version").value() == 2);
  CHECK(left.text("SELECT value FROM objects").value() == "newer");
}

TEST_CASE("a folder that is not there is named") {
  const Kept kept;
  const Path file = kept.folder.path() / "none" / "store";
  const auto store = SqliteStore::open(file);
  REQUIRE_FALSE(store);
  CHECK(store.error().code() == Code::not_found);
  CHECK(store.error().text().find(file.string()) != std::string::npos);
}

}  // namespace
}  // namespace ibpod::sm::state
