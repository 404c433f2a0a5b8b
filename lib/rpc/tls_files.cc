#include "lib/rpc/tls_files.h"

#include "lib/rpc/tls_check.h"

#include <sys/stat.h>

namespace ibpod::rpc {
namespace {

// Larger than any bundle of CAs that is meant.
constexpr size_t kLargest = 1 << 20;

}  // namespace

Result<TlsTexts> read_tls(const TlsFiles& files) {
  TlsTexts texts;
  texts.certificate = TRY(read_file(files.certificate, kLargest));
  texts.key = TRY(read_file(files.key, kLargest));
  texts.ca = TRY(read_file(files.ca, kLargest));
  TRY(check_authorities(texts.ca).during(files.ca.string()));
  const Validity valid = TRY(check_pair(texts.certificate, texts.key)
                                 .during(files.certificate.string() + ", " + files.key.string()));
  TRY(check_today(valid).during(files.certificate.string()));
  texts.expires = valid.until;
  return texts;
}

Result<std::shared_ptr<FollowedTls>> FollowedTls::open(TlsFiles files) {
  Identities read;
  TlsTexts texts = TRY(read_steadily(files, read));
  return std::shared_ptr<FollowedTls>(
      new FollowedTls(std::move(files), std::move(read), std::move(texts)));
}

FollowedTls::FollowedTls(TlsFiles files, Identities identities, TlsTexts texts)
    : files_(std::move(files)),
      read_(std::move(identities)),
      texts_(std::make_shared<const TlsTexts>(std::move(texts))) {}

// By what stat(2) tells of the files that the paths lead to, through the links of a Secret's mount.
// Empty where one is not there.
FollowedTls::Identities FollowedTls::identify(const TlsFiles& files) {
  Identities identities;
  for (const Path* path : {&files.certificate, &files.key, &files.ca}) {
    struct stat found;
    if (::stat(path->c_str(), &found) != 0) return {};
    // The time of the last change of the inode: nobody can set it back.
    identities.push_back(
        {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec});
  }
  return identities;
}

// All three of one moment, as far as that can be seen.
Result<TlsTexts> FollowedTls::read_steadily(const TlsFiles& files, Identities& read) {
  read = identify(files);
  TlsTexts texts = TRY(read_tls(files));
  if (read == identify(files)) return texts;
  return Error(Code::unavailable, files.certificate.string() + ": replaced while it was read");
}

std::shared_ptr<const TlsTexts> FollowedTls::now() {
  const std::lock_guard lock(mutex_);
  const bool same = !read_.empty() && read_ == identify(files_);
  if (same) return texts_;
  Identities read;
  Result<TlsTexts> texts = read_steadily(files_, read);
  if (texts) {
    texts_ = std::make_shared<const TlsTexts>(std::move(texts).value());
    read_ = std::move(read);
    trouble_ = ok();
  } else {
    read_.clear();
    trouble_ = std::move(texts).error();
  }
  return texts_;
}

Status FollowedTls::state() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_) return Error(trouble_.error()).during("the certificate of before stays in use");
  if (texts_->expires > std::chrono::system_clock::now()) return ok();
  return Error(Code::unavailable, files_.certificate.string() + " has expired");
}

std::chrono::system_clock::time_point FollowedTls::expires() const {
  const std::lock_guard lock(mutex_);
  return texts_->expires;
}

}  // namespace ibpod::rpc
