// The certificate, key and CA of one side of TLS, reloaded when they are replaced (cert-manager, a
// Secret's mount, an operator's mv).
#pragma once

#include "lib/base/file_version.h"
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
  // A client that shows no certificate has neither a certificate nor a key.
  bool ca_only() const { return certificate.empty() && key.empty(); }
  bool operator==(const TlsFiles&) const = default;
};

struct TlsTexts {
  std::string certificate;
  std::string key;
  std::string ca;
  std::chrono::system_clock::time_point expires;  // our own certificate; without one: never
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
  // cannot be read, or there is none (TlsFiles::ca_only()). As of the last now().
  std::optional<Time> expires() const;

 private:
  using Versions = std::vector<FileVersion>;
  explicit FollowedTls(TlsFiles files) : files_(std::move(files)) {}
  static Versions versions_of(const TlsFiles& files);
  Result<TlsTexts> read_steadily();
  Status refresh();

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Versions read_;                          // empty: look again
  std::shared_ptr<const TlsTexts> texts_;  // null: none could be used yet
  std::optional<Time> on_disk_;            // the end of the certificate that was read last
  Status trouble_ = ok();
};

}  // namespace ibpod::rpc
