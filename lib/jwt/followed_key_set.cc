#include "lib/jwt/followed_key_set.h"

namespace ibpod::jwt {

Result<std::unique_ptr<FollowedKeySet>> FollowedKeySet::open(Path file) {
  std::unique_ptr<FollowedKeySet> followed(new FollowedKeySet(std::move(file)));
  TRY(followed->refresh());
  return followed;
}

Result<KeySet> FollowedKeySet::read() {
  const std::optional<FileVersion> before = file_version(file_);
  const std::string text = TRY(read_file(file_, KeySet::kLargest));
  if (!before || before != file_version(file_))
    return Error(Code::unavailable, file_.string() + ": the file was replaced while it was read");
  read_ = before;
  return KeySet::parse(text).during(file_.string());
}

// Under the lock, or before another thread has the object.
Status FollowedKeySet::refresh() {
  read_.reset();
  Result<KeySet> keys = read();
  trouble_ = keys ? ok() : Status(keys.error());
  if (keys) keys_ = std::make_shared<const KeySet>(std::move(keys).value());
  return trouble_;
}

Result<std::shared_ptr<const KeySet>> FollowedKeySet::now() {
  const std::lock_guard lock(mutex_);
  if (!read_ || read_ != file_version(file_)) (void)refresh();  // the previous keys stay in use
  return keys_;
}

Status FollowedKeySet::state() const {
  const std::lock_guard lock(mutex_);
  if (trouble_ && keys_->keys().empty())
    return Error(Code::unavailable, file_.string() + ": no keys: every token is refused");
  if (trouble_) return ok();
  return Error(trouble_.error()).during("the previous keys stay in use");
}

}  // namespace ibpod::jwt
