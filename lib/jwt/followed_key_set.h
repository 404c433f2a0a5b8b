// FollowedKeySet: a key set in a file, read again when the file is replaced: an issuer's keys
// change.
#pragma once

#include "lib/base/file_version.h"
#include "lib/jwt/key_source.h"

#include <memory>
#include <mutex>
#include <optional>

namespace ibpod::jwt {

class FollowedKeySet final : public KeySource {
 public:
  // Fails, with the file's name, if the file cannot be used.
  static Result<std::unique_ptr<FollowedKeySet>> open(Path file);

  // The keys of the file as it is now. A file that cannot be used leaves the previous keys in use;
  // an empty list of keys withdraws them.
  // Costs one stat(2) while nothing changes, also for a file that is no key set.
  Result<std::shared_ptr<const KeySet>> now() override;
  // Does nothing: each now() looks at the file.
  void key_missing() override {}
  // As of the last now().
  Status state() const override;

 private:
  explicit FollowedKeySet(Path file) : file_(std::move(file)) {}
  Result<KeySet> read();
  Status refresh();

  const Path file_;
  mutable std::mutex mutex_;
  std::optional<FileVersion> read_;  // the version of `keys_` or `trouble_`; nothing: read it again
  std::shared_ptr<const KeySet> keys_;
  Status trouble_ = ok();
};

}  // namespace ibpod::jwt
