#include "sm/state/database.h"

#include "lib/base/fd.h"

#include <fcntl.h>
#include <sqlite3.h>

namespace ibpod::sm::state {
namespace {

// The primary result code is in the lowest byte (sqlite.org/rescode.html).
Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return Code::unavailable;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::busy;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return Code::denied;
    default:
      return Code::internal;
  }
}

Error error_of(sqlite3* database, int result) {
  const char* const text = database == nullptr ? sqlite3_errstr(result) : sqlite3_errmsg(database);
  return {code_of(result), text};
}

Status check_result(sqlite3* database, int result) {
  if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return ok();
  return error_of(database, result);
}

// The files that SQLite creates beside the database get its mode.
Status make_file(const Path& file) {
  const Fd made(TRY(sys("open " + file.string(),
                        [&] { return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); })));
  return ok();
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

void Database::Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<Database> Database::open(const Path& file) {
  TRY(make_file(file));
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(file.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(opened);
  Status usable = check_result(opened, result);
  if (usable) usable = database.lock();
  TRY(std::move(usable).during(file.string()));
  return database;
}

// With this mode the lock of the first transaction is kept.
Status Database::lock() {
  TRY(run("PRAGMA locking_mode = EXCLUSIVE"));
  return run("BEGIN EXCLUSIVE; COMMIT");
}

// The database is locked already, so WAL needs no shared-memory file.
Status Database::make_durable() {
  const std::string mode = TRY(text("PRAGMA journal_mode = WAL"));
  if (mode != "wal")
    return Error(Code::internal,
                 "SQLite cannot use journal mode \"wal\": it keeps \"" + mode + "\"");
  return run("PRAGMA synchronous = FULL");
}

Status Database::run(const std::string& sql) {
  return check_result(database_.get(),
                      sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

Result<int64_t> Database::number(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  TRY(statement.step());
  return statement.number(0);
}

Result<std::string> Database::text(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  TRY(statement.step());
  return statement.bytes(0);
}

Result<Database::Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  TRY(check_result(database_.get(),
                   sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr)));
  return Statement(*database_, statement);
}

// SQLite rolls back by itself after some errors; then there is no transaction.
void Database::roll_back() {
  if (sqlite3_get_autocommit(database_.get()) != 0) return;
  (void)run("ROLLBACK");  // a failed rollback happens when the file is opened next
}

Status Database::Statement::check_code(int code) const { return check_result(database_, code); }

Status Database::Statement::bind(int place, int64_t number) {
  return check_code(sqlite3_bind_int64(statement_.get(), place, number));
}

Status Database::Statement::bind(int place, std::string_view text) {
  return check_code(sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(),
                                        SQLITE_STATIC, SQLITE_UTF8));
}

Status Database::Statement::bind_bytes(int place, std::string_view bytes) {
  return check_code(
      sqlite3_bind_blob64(statement_.get(), place, bytes.data(), bytes.size(), SQLITE_STATIC));
}

Result<bool> Database::Statement::step() {
  const int result = sqlite3_step(statement_.get());
  TRY(check_code(result));
  return result == SQLITE_ROW;
}

int64_t Database::Statement::number(int place) const {
  return sqlite3_column_int64(statement_.get(), place);
}

std::string Database::Statement::bytes(int place) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), place));
  const int size = sqlite3_column_bytes(statement_.get(), place);
  return data == nullptr ? std::string() : std::string(data, static_cast<size_t>(size));
}

void Database::Statement::reset() { sqlite3_reset(statement_.get()); }

}  // namespace ibpod::sm::state
