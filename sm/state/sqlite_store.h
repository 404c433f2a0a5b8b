// SqliteStore: a Store in one file.
#pragma once

#include "sm/state/database.h"
#include "sm/state/store.h"

#include <memory>

namespace ibpod::sm::state {

class SqliteStore final : public Store {
 public:
  // Opens the file, creates it if needed, and migrates an older version. After an error the file is
  // unchanged: busy if another process has it open, invalid if it belongs to another program,
  // unsupported if its version is newer, internal if the integrity check fails.
  static Result<std::unique_ptr<SqliteStore>> open(const Path& file);

  Result<std::map<std::string, std::string>> all(RecordKind kind) override;
  Status commit(const std::vector<RecordChange>& changes) override;

 private:
  explicit SqliteStore(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace ibpod::sm::state
