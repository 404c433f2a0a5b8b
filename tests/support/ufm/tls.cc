#include "tests/support/ufm/tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace ibpod::fake_ufm {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio reader_of(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

Result<Certificate> read_certificate(const std::string& text, const char* what) {
  const Bio bio = reader_of(text);
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  if (!certificate) return Error(Code::invalid, std::string(what) + ": expected a PEM certificate");
  return certificate;
}

Result<Key> read_key(const std::string& text) {
  const Bio bio = reader_of(text);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  if (!key) return Error(Code::invalid, "key: expected a PEM private key");
  return key;
}

}  // namespace

Result<TlsContext> make_tls_context(const TlsFiles& files) {
  const Certificate certificate = TRY(read_certificate(files.certificate, "certificate"));
  const Key key = TRY(read_key(files.key));
  TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1)
    return Error(Code::invalid, "key: expected the one of the certificate");
  if (files.client_ca.empty()) return context;
  const Certificate authority = TRY(read_certificate(files.client_ca, "client_ca"));
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get());
  SSL_CTX_add_client_CA(context.get(), authority.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // Without it a resumed session fails where client certificates are verified.
  const unsigned char session[] = "ufm";
  SSL_CTX_set_session_id_context(context.get(), session, sizeof session - 1);
  return context;
}

}  // namespace ibpod::fake_ufm
