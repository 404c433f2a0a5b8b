// The certificate, key and CA of one side of TLS, reloaded when they are replaced (cert-manager, a
// Secret's mount, an operator's mv).
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::rpc {

// PEM, all three. Files that belong together should be replaced together; if they are not, the
// previous ones stay in use until all three match.
struct TlsFiles {
  Path certificate;  // our own first, then those between it and its CA
  Path key;          // without a passphrase
  Path ca;           // certificates of these CAs are accepted
  bool operator==(const TlsFiles&) const = default;
};

struct TlsTexts {
  std::string certificate;
  std::string key;
  std::string ca;
  std::chrono::system_clock::time_point expires;  // our own certificate
};

// Reads the files and checks them: the key belongs to the certificate, every certificate of the CA
// file parses, and our own is valid today. Errors name the file and never quote it. From any
// thread.
class FollowedTls {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Fails if the files cannot be used.
  static Result<std::shared_ptr<FollowedTls>> open(TlsFiles files);
  // For a program that goes on without them: they are read by the first now().
  static std::shared_ptr<FollowedTls> follow(TlsFiles files);

  // The texts for the next connection: a new object once the files have been replaced by others
  // that can be used, until then the last usable one; null while there was none (follow()). Costs
  // three calls of stat(2) while nothing changes.
  std::shared_ptr<const TlsTexts> now();

  // Why the files are not in use as they are, or that what is in use has expired, and when. As of
  // the last now().
  Status state() const;
  // Why no connection can be made by what is in use: nothing is, or it has expired. As state().
  Status usable() const;
  // Until when what is in use is valid; while nothing is, the certificate on disk. Nothing: that
  // cannot be read. As of the last now().
  std::optional<Time> expires() const;

 private:
  // Which files they were: where it is the same again, nothing has been replaced.
  struct Identity {
    uint64_t device, inode;
    int64_t size, changed_s, changed_ns;
    bool operator==(const Identity&) const = default;
  };
  using Identities = std::vector<Identity>;
  explicit FollowedTls(TlsFiles files) : files_(std::move(files)) {}
  static Identities identify(const TlsFiles& files);
  Result<TlsTexts> read_steadily();
  Status refresh();

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Identities read_;                        // empty: look again
  std::shared_ptr<const TlsTexts> texts_;  // null: none could be used yet
  std::optional<Time> on_disk_;            // the end of the certificate that was read last
  Status trouble_ = ok();
};

}  // namespace ibpod::rpc
