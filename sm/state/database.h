// Database: a SQLite database that only this process has open, and its prepared statements.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace ibpod::sm::state {

// For one thread at a time. Errors: busy if another process has the file open, unavailable if the
// disk is full, denied without permission, internal if the file is damaged or reads or writes fail.
class Database {
 public:
  // Opens the file, or creates it with mode 0600, and locks it until this object is destroyed. An
  // existing file is not changed. not_found if the folder does not exist.
  static Result<Database> open(const Path& file);
  // Makes every later commit durable. Changes the file.
  Status make_durable();

  // Statements without results.
  Status run(const std::string& sql);
  Result<int64_t> number(const std::string& sql);
  Result<std::string> text(const std::string& sql);

  // Runs `body` in one transaction; rolls it back if it fails.
  template <typename Body>
  Status transaction(const Body& body) {
    TRY(run("BEGIN IMMEDIATE"));
    Status done = body();
    if (done) done = run("COMMIT");
    if (!done) roll_back();
    return done;
  }

  class Statement {
   public:
    // Parameters count from 1. A bound text must stay valid until the next reset().
    Status bind(int place, int64_t number);
    Status bind(int place, std::string_view text);
    Status bind_bytes(int place, std::string_view bytes);
    // Returns false if there are no more rows.
    Result<bool> step();
    // Columns of the present row, from 0; returns copies.
    int64_t number(int place) const;
    std::string bytes(int place) const;
    // Call it before the statement is run again.
    void reset();

   private:
    friend class Database;
    struct Finalize {
      void operator()(sqlite3_stmt* statement) const;
    };
    Statement(sqlite3& database, sqlite3_stmt* statement)
        : database_(&database), statement_(statement) {}
    Status check_code(int code) const;
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  };
  // The statement must be destroyed before the database.
  Result<Statement> prepare(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  Status lock();
  void roll_back();
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace ibpod::sm::state
