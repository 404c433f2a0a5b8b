#include "tests/support/test_ca.h"

#include "lib/base/join.h"

#include <atomic>
#include <cstdlib>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace ibpod {
namespace {

void require(bool success) {
  if (!success) std::abort();
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509* unsigned_certificate(const TestCa::CertificateRequest& asked, EVP_PKEY* key) {
  static std::atomic<long> serial = 1;
  X509* certificate = X509_new();
  require(X509_set_version(certificate, 2) == 1);
  require(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++) == 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), asked.from);
  X509_gmtime_adj(X509_getm_notAfter(certificate), asked.until);
  const auto* name = reinterpret_cast<const unsigned char*>(asked.common_name.data());
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name,
                                     static_cast<int>(asked.common_name.size()), -1, 0) == 1);
  require(X509_set_pubkey(certificate, key) == 1);
  return certificate;
}

std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string pem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  require(PEM_write_bio_X509(bio, certificate) == 1);
  return text_of(bio);
}

std::string pem(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  require(PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio);
}

}  // namespace

struct TestCa::Keys {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = unsigned_certificate({.common_name = "test CA"}, key);
  Keys() {
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate, certificate, NID_subject_key_identifier, "hash");
    require(X509_sign(certificate, key, EVP_sha256()) != 0);
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

TestCa::TestCa() : keys_(std::make_unique<Keys>()), certificate_(pem(keys_->certificate)) {}

TestCa::~TestCa() = default;

TestCa::Issued TestCa::issue(const CertificateRequest& asked) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = unsigned_certificate(asked, key);
  X509_set_issuer_name(certificate, X509_get_subject_name(keys_->certificate));
  extend(certificate, keys_->certificate, NID_ext_key_usage, asked.usage);
  extend(certificate, keys_->certificate, NID_authority_key_identifier, "keyid");
  const std::string names = join(asked.names, ",");
  if (!names.empty()) extend(certificate, keys_->certificate, NID_subject_alt_name, names);
  require(X509_sign(certificate, keys_->key, EVP_sha256()) != 0);
  Issued issued{pem(certificate), pem(key)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return issued;
}

}  // namespace ibpod
