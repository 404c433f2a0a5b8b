#include "sm/state/sqlite_store.h"

#include <array>

namespace ibpod::sm::state {
namespace {

// "ibpd" in SQLite's header, so that no other program's database is taken for ours.
constexpr int64_t kApplication = 0x69627064;

// Statement n migrates version n to n + 1. The version is in the header (user_version).
constexpr std::array<const char*, 1> kMigrations{
    "CREATE TABLE objects (kind INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, "
    "PRIMARY KEY (kind, key)) WITHOUT ROWID",
};

constexpr auto kNewest = static_cast<int64_t>(kMigrations.size());

Status check_owner(Database& database) {
  const int64_t application = TRY(database.number("PRAGMA application_id"));
  const int64_t tables = TRY(database.number("SELECT count(*) FROM sqlite_master"));
  if (application == kApplication || (application == 0 && tables == 0)) return ok();
  return Error(Code::invalid, "the database belongs to another program");
}

Status check_integrity(Database& database) {
  const std::string found = TRY(database.text("PRAGMA integrity_check(1)"));
  if (found == "ok") return ok();
  return Error(Code::internal, "the database is damaged: " + found);
}

Result<int64_t> check_version(Database& database) {
  const int64_t version = TRY(database.number("PRAGMA user_version"));
  if (version < 0) return Error(Code::internal, "the database is damaged: its version is negative");
  TRY(ibpod::check_version(version, kNewest));
  return version;
}

Status migrate(Database& database, int64_t version) {
  if (version == kNewest) return ok();
  return database.transaction([&]() -> Status {
    for (auto step = static_cast<size_t>(version); step < kMigrations.size(); ++step)
      TRY(database.run(kMigrations[step]));
    TRY(database.run("PRAGMA application_id = " + std::to_string(kApplication)));
    return database.run("PRAGMA user_version = " + std::to_string(kNewest));
  });
}

Status prepare_file(Database& database) {
  TRY(check_owner(database));
  const int64_t version = TRY(check_version(database));
  TRY(check_integrity(database));
  TRY(database.make_durable());
  return migrate(database, version);
}

// Adds a remedy for the administrator.
Error advised(Error error) {
  if (error.code() == Code::busy)
    return std::move(error).also(
        Error(Code::busy, "another ibpod-sm has it open; stop that one first"));
  if (error.code() == Code::internal)
    return std::move(error).also(
        Error(Code::internal,
              "nothing has been changed; if the database is damaged, restore it from a backup"));
  return error;
}

Result<Database> open_ours(const Path& file) {
  Database database = TRY(Database::open(file));
  TRY(prepare_file(database).during(file.string()));
  return database;
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const Path& file) {
  Result<Database> database = open_ours(file);
  if (!database) return advised(std::move(database).error());
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(database).value()));
}

Result<std::map<std::string, std::string>> SqliteStore::all(RecordKind kind) {
  Database::Statement statement =
      TRY(database_.prepare("SELECT key, value FROM objects WHERE kind = ? ORDER BY key"));
  TRY(statement.bind(1, static_cast<int64_t>(kind)));
  std::map<std::string, std::string> found;
  while (true) {
    const bool more = TRY(statement.step());
    if (!more) return found;
    found.emplace_hint(found.end(), statement.bytes(0), statement.bytes(1));
  }
}

Status SqliteStore::commit(const std::vector<RecordChange>& changes) {
  Database::Statement put =
      TRY(database_.prepare("INSERT OR REPLACE INTO objects (kind, key, value) VALUES (?, ?, ?)"));
  Database::Statement remove =
      TRY(database_.prepare("DELETE FROM objects WHERE kind = ? AND key = ?"));
  return database_.transaction([&]() -> Status {
    for (const RecordChange& change : changes) {
      Database::Statement& statement = change.value ? put : remove;
      TRY(statement.bind(1, static_cast<int64_t>(change.kind)));
      TRY(statement.bind(2, change.key));
      if (change.value) TRY(statement.bind_bytes(3, *change.value));
      TRY(statement.step());
      statement.reset();
    }
    return ok();
  });
}

}  // namespace ibpod::sm::state
