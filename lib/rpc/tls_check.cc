#include "lib/rpc/tls_check.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace ibpod::rpc {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;

Bio bio_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// With OpenSSL's own reason, which quotes nothing of the text.
Error refused(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return Error(Code::invalid, reason == nullptr ? what : what + ": " + reason);
}

// An empty passphrase, or OpenSSL asks for one on the terminal.
char* no_passphrase() {
  static char none = '\0';
  return &none;
}

Certificate next_certificate(const Bio& bio) {
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, no_passphrase()));
}

// True if reading stopped because nothing more looks like PEM.
bool at_the_end() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

// The certificates after the first, as gRPC reads them: it cannot tell their end from damage.
Status check_rest(const Bio& bio) {
  while (next_certificate(bio) != nullptr) continue;
  if (at_the_end()) return ok();
  return Error(Code::invalid, "a certificate after the first is damaged");
}

// The clock ends in 2262. A certificate without an end is valid until 9999 (RFC 5280, 4.1.2.5).
Result<std::chrono::system_clock::time_point> time_of(const ASN1_TIME* time) {
  using std::chrono::system_clock;
  constexpr time_t kMost =
      std::chrono::duration_cast<std::chrono::seconds>(system_clock::duration::max()).count();
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return refused("cannot read a date of the certificate");
  return system_clock::from_time_t(std::clamp(::timegm(&parts), -kMost, kMost));
}

}  // namespace

std::string text_of(std::chrono::system_clock::time_point time) {
  const time_t seconds = std::chrono::system_clock::to_time_t(time);
  tm parts{};
  std::string text(32, '\0');
  ::gmtime_r(&seconds, &parts);
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

Status check_authorities(const std::string& text) {
  ERR_clear_error();
  const Bio bio = bio_of(text);
  if (next_certificate(bio) == nullptr) return refused("the file has no certificate");
  return check_rest(bio);
}

Result<Validity> check_pair(const std::string& certificate, const std::string& key) {
  ERR_clear_error();
  const Bio certificates = bio_of(certificate);
  const Certificate own = next_certificate(certificates);
  if (own == nullptr) return refused("the first file has no certificate");
  TRY(check_rest(certificates));
  const Bio keys = bio_of(key);
  const Key private_key(PEM_read_bio_PrivateKey(keys.get(), nullptr, nullptr, no_passphrase()));
  if (private_key == nullptr)
    return refused("the second file has no private key without a passphrase");
  // In a context as gRPC makes one: it refuses keys that are too short, too.
  const Context context(SSL_CTX_new(TLS_method()));
  if (context == nullptr) return refused("cannot create a TLS context");
  if (SSL_CTX_use_certificate(context.get(), own.get()) != 1)
    return refused("cannot use the certificate");
  if (SSL_CTX_use_PrivateKey(context.get(), private_key.get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return refused("the key does not belong to the certificate");
  Validity valid;
  valid.from = TRY(time_of(X509_get0_notBefore(own.get())));
  valid.until = TRY(time_of(X509_get0_notAfter(own.get())));
  return valid;
}

Status check_today(const Validity& valid) {
  const auto now = std::chrono::system_clock::now();
  if (now < valid.from) return Error(Code::invalid, "is not valid before " + text_of(valid.from));
  if (now >= valid.until) return Error(Code::invalid, "expired at " + text_of(valid.until));
  return ok();
}

}  // namespace ibpod::rpc
