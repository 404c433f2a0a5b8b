#include "ctl/convert/ib_kubernetes.h"

#include "ctl/convert/base64.h"
#include "ctl/convert/values.h"
#include "lib/base/join.h"
#include "lib/base/nearest.h"
#include "lib/base/utf8.h"
#include "lib/base/words.h"
#include "lib/rpc/tls_check.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ibpod::ctl::convert {
namespace {

constexpr std::string_view kPlugin = "DAEMON_SM_PLUGIN", kPeriod = "DAEMON_PERIODIC_UPDATE",
                           kStart = "GUID_POOL_RANGE_START", kEnd = "GUID_POOL_RANGE_END",
                           kUser = "UFM_USERNAME", kPassword = "UFM_PASSWORD",
                           kAddress = "UFM_ADDRESS", kPort = "UFM_PORT",
                           kSchema = "UFM_HTTP_SCHEMA", kCertificate = "UFM_CERTIFICATE";
// All of its Deployment and of its README; the last three say in which pod it runs.
constexpr std::array kNames{kPlugin,
                            kPeriod,
                            kStart,
                            kEnd,
                            std::string_view("DAEMON_SM_PLUGIN_PATH"),
                            kUser,
                            kPassword,
                            kAddress,
                            kPort,
                            kSchema,
                            kCertificate,
                            std::string_view("K8S_NODE"),
                            std::string_view("POD_NAMESPACE"),
                            std::string_view("POD_UID")};
constexpr std::array<std::string_view, 3> kPrefixes{"DAEMON_", "GUID_", "UFM_"};

constexpr std::string_view kFirstGuid = "02:00:00:00:00:00:00:00";
constexpr std::string_view kLastGuid = "02:FF:FF:FF:FF:FF:FF:FF";
constexpr unsigned kLongestPeriod = 1'000'000'000;
constexpr size_t kLongestUser = 256;  // that ibpod-sm takes

enum class Schema { http, https };

std::string instead_of(const std::string& name) {
  const std::string meant = is_meant(name, {kNames.begin(), kNames.end()});
  return meant.empty() ? ", expected one of " + join(kNames, ", ") : meant;
}

bool is_named_alike(const std::string& name) {
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Reads the variables one by one, and collects errors and warnings.
class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  Result<IbKubernetes> read() {
    read_names();
    TRY(errors_.status());
    errors_.collect(read_daemon());
    errors_.collect(read_guids());
    errors_.collect(read_address());
    errors_.collect(read_user());
    errors_.collect(read_password());
    errors_.collect(read_certificate());
    TRY(errors_.status());
    return std::move(read_);
  }

 private:
  Error unexpected(std::string_view name, const std::string& expected) const {
    return convert::unexpected(variables_, name, expected);
  }
  void warn(std::string text) { read_.warnings.push_back(std::move(text)); }

  void read_names() {
    std::vector<std::string> left_out;
    for (const auto& [name, value] : variables_) {
      if (is_of_ib_kubernetes(name))
        errors_.collect(check_end(name, value));
      else if (is_named_alike(name))
        errors_.add(wrong(name, "ib-kubernetes has no such variable" + instead_of(name)));
      else
        left_out.push_back(name);
    }
    if (!left_out.empty())
      warn("not converted, as ib-kubernetes does not read it: " + join(left_out, ", "));
  }

  // `echo X | base64` adds one, and ib-kubernetes would use it.
  static Status check_end(const std::string& name, const std::string& value) {
    if (name == kCertificate || !(value.ends_with('\n') || value.ends_with('\r'))) return ok();
    return wrong(name, "it ends with a line break: encode the value with `printf %s`");
  }

  Status read_daemon() {
    if (text_of(variables_, kPlugin).empty())
      return wrong(kPlugin, "it is missing: pass the ConfigMap of ib-kubernetes, too");
    if (text_of(variables_, kPlugin) != "ufm")
      return unexpected(kPlugin, "ufm, the only plugin that is converted");
    const std::optional<unsigned> seconds = TRY(read_number(variables_, kPeriod, kLongestPeriod));
    return seconds == 0U ? Status(unexpected(kPeriod, "at least 1")) : ok();
  }

  Status read_guids() {
    read_.guids.first = TRY(read_guid(variables_, kStart, kFirstGuid));
    read_.guids.last = TRY(read_guid(variables_, kEnd, kLastGuid));
    if (read_.guids.first <= read_.guids.last) return ok();
    return wrong(kEnd, "expected at least " + read_.guids.first.text() + " (" +
                           std::string(kStart) + "), got " + read_.guids.last.text());
  }

  Result<Schema> schema() const {
    std::string word = text_of(variables_, kSchema);
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (word.empty()) return Schema::https;
    const auto schema = find_word<Schema>({{"http", Schema::http}, {"https", Schema::https}}, word);
    if (!schema) return unexpected(kSchema, "http or https");
    return *schema;
  }

  Status read_address() {
    Result<std::string> host = read_host(variables_, kAddress);
    if (host)
      read_.host = *std::move(host);
    else
      errors_.collect(host.error());
    const Schema used = TRY(schema());
    const std::optional<unsigned> port = TRY(read_number(variables_, kPort, 65535));
    const bool given = port.value_or(0) != 0;  // 0: ib-kubernetes uses that of the scheme
    if (used == Schema::https && given) read_.port = static_cast<uint16_t>(*port);
    if (used == Schema::http)
      warn(
          "UFM_HTTP_SCHEMA: \"http\": ibpod-sm sends the password by HTTPS only, so the file has "
          "port 443" +
          (given ? " instead of " + std::to_string(*port) : std::string()) +
          ": check that UFM serves HTTPS there, or correct ufm.addresses");
    return ok();
  }

  Status read_user() {
    read_.user = TRY(required(variables_, kUser));
    if (read_.user.size() > kLongestUser)
      return unexpected(kUser, "at most " + std::to_string(kLongestUser) + " bytes");
    const bool has_colon = read_.user.find(':') != std::string::npos;
    if (!has_colon && !has_control(read_.user) && is_utf8(read_.user)) return ok();
    return unexpected(kUser, "UTF-8 without colons and control characters");
  }

  Status read_password() {
    read_.password = TRY(required(variables_, kPassword));
    if (!has_control(read_.password)) return ok();
    return wrong(kPassword, "expected text without control characters");
  }

  // Its README calls the value base64. In a Secret it is, and the variable itself is PEM.
  Status read_certificate() {
    std::string value = text_of(variables_, kCertificate);
    if (value.find_first_not_of(" \t\r\n") == value.npos) {
      warn(
          "UFM_CERTIFICATE is empty: ib-kubernetes does not verify UFM's certificate, and "
          "ibpod-sm always does: put the certificate of its CA (PEM) into ufm.caFile before "
          "ibpod-sm starts, or remove that key if the CA is one of the system's");
      return ok();
    }
    const Result<std::string> decoded = decode_base64(value);
    if (decoded) value = *decoded;
    if (value.find("PRIVATE KEY") != value.npos)
      return wrong(kCertificate, "it has a private key: expected certificates only (PEM)");
    TRY(rpc::check_authorities(value).during("UFM_CERTIFICATE: expected certificates (PEM)"));
    read_.certificate = value;
    return ok();
  }

  const Variables& variables_;
  Errors errors_;
  IbKubernetes read_;
};

}  // namespace

bool is_of_ib_kubernetes(const std::string& name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<IbKubernetes> read_ib_kubernetes(const Variables& variables) {
  return Reader(variables).read();
}

}  // namespace ibpod::ctl::convert
