#include "lib/rpc/tls_files.h"

#include "lib/rpc/tls_check.h"

namespace ibpod::rpc {
namespace {

// Larger than any bundle of CAs that is meant.
constexpr size_t kLargest = 1 << 20;

// Does not check that the certificate is valid today.
Result<TlsTexts> read_undated(const TlsFiles& files, Validity& valid) {
  TlsTexts texts;
  if (!files.ca_only()) {
    texts.certificate = TRY(read_file(files.certificate, kLargest));
    texts.key = TRY(read_file(files.key, kLargest));
  }
  texts.ca = TRY(read_file(files.ca, kLargest));
  TRY(check_authorities(texts.ca).during(files.ca.string()));
  texts.expires = FollowedTls::Time::max();
  if (files.ca_only()) return texts;
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

// Empty if one of the files is missing.
FollowedTls::Versions FollowedTls::versions_of(const TlsFiles& files) {
  Versions versions;
  for (const Path* path : {&files.certificate, &files.key, &files.ca}) {
    if (path != &files.ca && files.ca_only()) continue;
    const std::optional<FileVersion> version = file_version(*path);
    if (!version) return {};
    versions.push_back(*version);
  }
  return versions;
}

// All three of one moment, as far as that can be seen.
Result<TlsTexts> FollowedTls::read_steadily() {
  on_disk_.reset();
  const Versions before = versions_of(files_);
  Validity valid;
  TlsTexts texts = TRY(read_undated(files_, valid));
  const Path& first = files_.ca_only() ? files_.ca : files_.certificate;
  if (before.empty() || before != versions_of(files_))
    return Error(Code::unavailable, first.string() + ": the file was replaced while it was read");
  if (!files_.ca_only()) {
    on_disk_ = valid.until;
    TRY(check_today(valid).during(files_.certificate.string()));
  }
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
  const bool same = !read_.empty() && read_ == versions_of(files_);
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
  if (texts_ == nullptr || files_.ca_only()) return on_disk_;
  return texts_->expires;
}

}  // namespace ibpod::rpc
