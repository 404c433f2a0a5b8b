#include "lib/rpc/tls_files.h"

#include "lib/rpc/tls_check.h"

#include <sys/stat.h>

namespace ibpod::rpc {
namespace {

// Larger than any bundle of CAs that is meant.
constexpr size_t kLargest = 1 << 20;

// Does not check that the certificate is valid today.
Result<TlsTexts> read_undated(const TlsFiles& files, Validity& valid) {
  TlsTexts texts;
  texts.certificate = TRY(read_file(files.certificate, kLargest));
  texts.key = TRY(read_file(files.key, kLargest));
  texts.ca = TRY(read_file(files.ca, kLargest));
  TRY(check_authorities(texts.ca).during(files.ca.string()));
  valid = TRY(check_pair(texts.certificate, texts.key)
                  .during(files.certificate.string() + ", " + files.key.string()));
  texts.expires = valid.until;
  return texts;
}

}  // namespace

Result<std::shared_ptr<FollowedTls>> FollowedTls::open(TlsFiles files) {
  std::shared_ptr<FollowedTls> followed = follow(std::move(files));
  TRY(followed->refresh());
  return followed;
}

std::shared_ptr<FollowedTls> FollowedTls::follow(TlsFiles files) {
  return std::shared_ptr<FollowedTls>(new FollowedTls(std::move(files)));
}

// By what stat(2) tells of the files that the paths lead to, through the links of a Secret's mount.
// Empty where one is not there.
FollowedTls::Identities FollowedTls::identify(const TlsFiles& files) {
  Identities identities;
  for (const Path* path : {&files.certificate, &files.key, &files.ca}) {
    struct stat found;
    if (::stat(path->c_str(), &found) != 0) return {};
    // The time of the last change of the inode: no program can set it back.
    identities.push_back(
        {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec});
  }
  return identities;
}

// All three of one moment, as far as that can be seen.
Result<TlsTexts> FollowedTls::read_steadily() {
  on_disk_.reset();
  const Identities before = identify(files_);
  Validity valid;
  TlsTexts texts = TRY(read_undated(files_, valid));
  if (before.empty() || before != identify(files_))
    return Error(Code::unavailable,
                 files_.certificate.string() + ": the file was replaced while it was read");
  on_disk_ = valid.until;
  TRY(check_today(valid).during(files_.certificate.string()));
  read_ = before;
  return texts;
}

// Under the lock, or before another thread has the object.
Status FollowedTls::refresh() {
  read_.clear();
  Result<TlsTexts> texts = read_steadily();
  trouble_ = texts ? ok() : Status(texts.error());
  if (texts) texts_ = std::make_shared<const TlsTexts>(std::move(texts).value());
  return trouble_;
}

std::shared_ptr<const TlsTexts> FollowedTls::now() {
  const std::lock_guard lock(mutex_);
  const bool same = !read_.empty() && read_ == identify(files_);
  if (!same) (void)refresh();
  return texts_;
}

Status FollowedTls::state() const {
  const Status in_use = usable();
  const std::lock_guard lock(mutex_);
  if (texts_ == nullptr || trouble_) return in_use;
  const std::string end = in_use ? "" : ", which expired at " + text_of(texts_->expires) + ",";
  return Error(trouble_.error()).during("the previous certificate" + end + " stays in use");
}

Status FollowedTls::usable() const {
  const std::lock_guard lock(mutex_);
  if (texts_ == nullptr) return trouble_;
  if (texts_->expires > std::chrono::system_clock::now()) return ok();
  return Error(Code::unavailable,
               files_.certificate.string() + ": expired at " + text_of(texts_->expires));
}

std::optional<FollowedTls::Time> FollowedTls::expires() const {
  const std::lock_guard lock(mutex_);
  if (texts_ == nullptr) return on_disk_;
  return texts_->expires;
}

}  // namespace ibpod::rpc
