// SqliteStore: a Store in one file.
#pragma once

#include "sm/store/database.h"
#include "sm/store/store.h"

#include <memory>

namespace ibpod::sm::store {

class SqliteStore final : public Store {
 public:
  // The file is made where there is none, in a folder that exists. What an earlier version left is
  // brought to this one. Errors leave it as it is: busy where another process has it open; invalid
  // where it is another program's database; unsupported where it is of a newer version; internal
  // where it is damaged, which is looked for.
  static Result<std::unique_ptr<SqliteStore>> open(const Path& file);

  Result<std::map<std::string, std::string>> all(RecordKind kind) override;
  Status commit(const std::vector<RecordChange>& changes) override;

 private:
  explicit SqliteStore(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace ibpod::sm::store
