#include "lib/rpc/holder.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace ibpod::rpc {
namespace {

constexpr size_t kLongest = 256;
const std::string kAddress = "address ";

std::string printable(std::string name) {
  const bool good =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return good ? name : std::string();
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string common_name_of(const X509& certificate) {
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return printable(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
}

// Adds the names of one kind: GEN_DNS or GEN_URI.
void add_names(std::vector<std::string>& names, const GENERAL_NAMES* all, int kind,
               const std::string& prefix) {
  for (int n = 0; n < sk_GENERAL_NAME_num(all); ++n) {
    int type = 0;
    const void* const name = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, n), &type);
    if (type != kind) continue;
    const std::string text = printable(text_of(static_cast<const ASN1_STRING*>(name)));
    if (!text.empty()) names.push_back(prefix + text);
  }
}

}  // namespace

Peer peer_of(const std::string& certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> x509(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
  Peer peer;
  if (x509 == nullptr) return peer;
  peer.common_name = common_name_of(*x509);
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(x509.get(), NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  add_names(peer.names, names.get(), GEN_DNS, "DNS=");
  add_names(peer.names, names.get(), GEN_URI, "URI=");
  return peer;
}

std::string anonymous_account(const std::string& address) { return kAddress + address; }
bool is_anonymous(const std::string& account) { return account.starts_with(kAddress); }

std::string holder_of(const Peer& peer) {
  const auto fits = [](const std::string& name) {
    return !name.empty() && name.size() <= kLongest;
  };
  if (fits(peer.common_name)) return peer.common_name;
  const auto found = std::find_if(peer.names.begin(), peer.names.end(), fits);
  return found == peer.names.end() ? std::string() : *found;
}

}  // namespace ibpod::rpc
