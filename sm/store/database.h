// Database: a SQLite database of this process alone, and its prepared statements.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace ibpod::sm::store {

// For one thread at a time. Errors: busy where another process has the file open, unavailable where
// the disk is full, denied where it may not be opened, internal where it is damaged or cannot be
// read or written.
class Database {
 public:
  // Opened, or made with mode 0600, and locked against other processes until this object goes. Not
  // changed yet. not_found where there is no such folder.
  static Result<Database> open(const Path& file);
  // From now on what is committed is flushed to disk. That changes the file.
  Status make_durable();

  // Statements without results.
  Status run(const std::string& sql);
  Result<int64_t> number(const std::string& sql);
  Result<std::string> text(const std::string& sql);

  // Runs what it is given in one transaction, which a failure takes back.
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
    // Places from 1. What is bound has to stay until the next reset().
    Status bind(int place, int64_t number);
    Status bind(int place, std::string_view text);
    Status bind_bytes(int place, std::string_view bytes);
    // Whether there is another row.
    Result<bool> step();
    // Places from 0. Of the present row; both are copied.
    int64_t number(int place) const;
    std::string bytes(int place) const;
    // To be run once more.
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
  // Goes before the database.
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

}  // namespace ibpod::sm::store
