#include "lib/https/exchange.h"

#include "lib/base/printable.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <curl/curl.h>

namespace ibpod::https {
namespace {

constexpr size_t kMostHeaderBytes = 64 << 10;

// A list of headers. One of them is a secret, so its text is wiped.
class Headers {
 public:
  Headers() = default;
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;
  ~Headers() {
    for (curl_slist* one = list_; one != nullptr; one = one->next)
      ::explicit_bzero(one->data, std::strlen(one->data));
    curl_slist_free_all(list_);
  }
  void add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* list() { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Keeps the first refusal: a request without one of its options must not be sent.
class Options {
 public:
  explicit Options(CURL* curl) : curl_(curl) {}
  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(curl_, option, value);
    if (code_ == CURLE_OK) code_ = code;
  }
  // Not copied: the text must stay until the request has ended.
  void set_text(CURLoption option, const std::string& text) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
    set(option, &blob);
  }
  CURLcode code() const { return code_; }

 private:
  CURL* curl_;
  CURLcode code_ = CURLE_OK;
};

// The answer as it comes in.
struct Reception {
  CURL* curl = nullptr;
  size_t most_bytes = 0;
  std::string body = {};
  size_t header_bytes = 0;
  bool too_large = false;
  bool cut = false;  // an error whose first bytes are enough
};

int status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

bool is_success(int status) { return status >= 200 && status < 300; }

// Both are called by libcurl, which ends the request if they return less than `count`.
size_t receive(char* bytes, size_t, size_t count, void* to) {
  Reception& reception = *static_cast<Reception*>(to);
  const bool success = is_success(status_of(reception.curl));
  const size_t most = success ? reception.most_bytes : kMostErrorBytes;
  const size_t kept = std::min(count, most - std::min(most, reception.body.size()));
  reception.body.append(bytes, kept);
  (success ? reception.too_large : reception.cut) |= kept < count;
  return kept;
}
size_t receive_header(char*, size_t, size_t count, void* to) {
  Reception& reception = *static_cast<Reception*>(to);
  reception.header_bytes += count;
  reception.too_large |= reception.header_bytes > kMostHeaderBytes;
  return reception.too_large ? 0 : count;
}

void set_connection(Options& options, const Request& request, const std::string& ca) {
  options.set(CURLOPT_URL, request.url.c_str());
  options.set(CURLOPT_PATH_AS_IS, 1L);
  options.set(CURLOPT_PROTOCOLS_STR, "https");
  options.set(CURLOPT_FOLLOWLOCATION, 0L);
  options.set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  options.set(CURLOPT_PROXY, "");  // not the environment's
  options.set(CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
  options.set(CURLOPT_NOSIGNAL, 1L);
  // A lookup of a name that has not ended would be waited for beyond the timeout.
  options.set(CURLOPT_QUICK_EXIT, 1L);
  options.set(CURLOPT_TIMEOUT_MS, std::max<long>(1, request.timeout.count()));
  options.set(CURLOPT_FRESH_CONNECT, request.method == "GET" ? 0L : 1L);
  options.set(CURLOPT_SSL_VERIFYPEER, 1L);
  options.set(CURLOPT_SSL_VERIFYHOST, 2L);
  options.set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (ca.empty()) return;
  options.set_text(CURLOPT_CAINFO_BLOB, ca);
  // Debian's libcurl has the system's CAs also as a folder, which a text does not replace.
  options.set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
}

void set_identity(Options& options, const Identity& identity, Headers& headers) {
  if (!identity.authorization.empty()) {
    Secret line;
    line.append("Authorization: ").append(identity.authorization.text());
    headers.add(line.text());
  }
  if (identity.key.empty()) return;
  options.set(CURLOPT_SSLCERTTYPE, "PEM");
  options.set(CURLOPT_SSLKEYTYPE, "PEM");
  options.set_text(CURLOPT_SSLCERT_BLOB, identity.certificate);
  options.set_text(CURLOPT_SSLKEY_BLOB, identity.key.text());
}

void set_request(Options& options, const Request& request, Headers& headers) {
  headers.add("Accept: " + request.accept);
  options.set(CURLOPT_USERAGENT, "ibpod-sm");
  if (request.method == "GET") {
    options.set(CURLOPT_HTTPGET, 1L);
  } else if (request.method == "POST") {
    headers.add("Content-Type: application/json");
    options.set(CURLOPT_POST, 1L);
    options.set(CURLOPT_POSTFIELDS, request.body.c_str());
    options.set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
  } else {
    options.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  options.set(CURLOPT_HTTPHEADER, headers.list());
}

void set_reception(Options& options, Reception& reception, char* error) {
  options.set(CURLOPT_ERRORBUFFER, error);
  options.set(CURLOPT_WRITEFUNCTION, &receive);
  options.set(CURLOPT_WRITEDATA, &reception);
  options.set(CURLOPT_HEADERFUNCTION, &receive_header);
  options.set(CURLOPT_HEADERDATA, &reception);
}

// libcurl asks at least once a second; another answer than 0 ends the request.
int is_cancelled(void* cancelled, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(cancelled) ? 1 : 0;
}

void set_cancellation(Options& options, std::atomic<bool>& cancelled) {
  options.set(CURLOPT_NOPROGRESS, 0L);
  options.set(CURLOPT_XFERINFOFUNCTION, &is_cancelled);
  options.set(CURLOPT_XFERINFODATA, &cancelled);
}

// Under TLS 1.3 a server refuses the client's certificate after the handshake, by an alert.
bool is_refused_certificate(std::string_view text) {
  if (text.find("alert") == text.npos) return false;
  for (const char* reason : {"certificate", "unknown ca", "access denied"})
    if (text.find(reason) != text.npos) return true;
  return false;
}

Error failure(CURLcode code, std::string_view text, const Reception& reception) {
  if (reception.header_bytes > kMostHeaderBytes)
    return Error(Code::unavailable, "the answer has more than 64 KiB of headers");
  if (reception.too_large)
    return Error(Code::unavailable,
                 "the answer is larger than " + std::to_string(reception.most_bytes) + " bytes");
  if (code == CURLE_ABORTED_BY_CALLBACK) text = "the call was cancelled";
  if (text.empty()) text = curl_easy_strerror(code);
  const Code kind = is_refused_certificate(text) ? Code::denied : Code::unavailable;
  return Error(kind, printable(text, 200));
}

// The threads of a program may each make the first exchange: this is safe since curl 7.84.
void initialize() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)once;
}

}  // namespace

Exchange::Exchange()
    : curl_((initialize(), curl_easy_init()), [](void* curl) { curl_easy_cleanup(curl); }) {}

Result<Answer> Exchange::send(const Request& request, const Identity& identity,
                              const std::string& ca) {
  if (curl_ == nullptr) return Error(Code::unavailable, "libcurl has no memory");
  std::array<char, CURL_ERROR_SIZE> error{};
  Reception reception{.curl = curl_.get(), .most_bytes = request.most_bytes};
  Headers headers;
  Options options(curl_.get());
  set_connection(options, request, ca);
  set_identity(options, identity, headers);
  set_request(options, request, headers);
  set_reception(options, reception, error.data());
  set_cancellation(options, cancelled_);
  const bool is_set = options.code() == CURLE_OK;
  const CURLcode code = is_set ? curl_easy_perform(curl_.get()) : options.code();
  const int status = status_of(curl_.get());
  curl_easy_reset(curl_.get());  // keeps the connection, and no pointer to what goes now
  if (code == CURLE_OK || (reception.cut && status != 0))
    return Answer{status, std::move(reception.body)};
  return failure(code, error.data(), reception);
}

}  // namespace ibpod::https
