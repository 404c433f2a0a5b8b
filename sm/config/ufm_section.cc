#include "sm/config/ufm_section.h"

#include "lib/base/join.h"
#include "sm/config/values.h"

#include <algorithm>

namespace ibpod::sm::config {
namespace {

using json::Value;

constexpr size_t kMostAddresses = 8;
constexpr size_t kMostUser = 256;

template <typename T>
struct Key {
  std::string_view name;
  bool given = false;  // even with a wrong value, which is reported already
  T value = {};
};

template <typename T>
void take(Keys& section, Key<T>& key) {
  section.take(key.name, key.value, [&](const Value& value) {
    key.given = true;
    return json::read<T>(value);
  });
}

struct Credentials {
  Key<std::string> user{"user"};
  Key<Path> password_file{"passwordFile"}, token_file{"tokenFile"};
  Key<Path> certificate{"certificate"}, key{"key"};

  std::vector<std::string> given() const {
    std::vector<std::string> names;
    if (user.given) names.emplace_back(user.name);
    for (const Key<Path>* const one : {&password_file, &token_file, &certificate, &key})
      if (one->given) names.emplace_back(one->name);
    return names;
  }
};

Status missing(std::string_view key, std::string_view other) {
  return unfit("ufm." + std::string(key) + ": missing: ufm." + std::string(other) +
               " has no effect without it");
}

// HTTP joins user and password by a colon (RFC 7617).
Status check_user(const std::string& user) {
  const bool plain = std::all_of(user.begin(), user.end(),
                                 [](unsigned char c) { return c >= ' ' && c != 0x7f && c != ':'; });
  if (plain && !user.empty() && user.size() <= kMostUser) return ok();
  return unfit("ufm.user: expected 1 to " + std::to_string(kMostUser) +
               " bytes without \":\" and control characters, got " + Value(user).ascii());
}

Status check_credentials(const Credentials& all) {
  const bool basic = all.user.given || all.password_file.given;
  const bool certificate = all.certificate.given || all.key.given;
  if (int{basic} + int{certificate} + int{all.token_file.given} != 1)
    return unfit(
        "ufm: expected one kind of credentials (user and passwordFile, tokenFile, or certificate "
        "and key), got " +
        (all.given().empty() ? "none" : join(all.given(), ", ")));
  if (basic && !all.password_file.given) return missing("passwordFile", "user");
  if (basic && !all.user.given) return missing("user", "passwordFile");
  if (certificate && !all.key.given) return missing("key", "certificate");
  if (certificate && !all.certificate.given) return missing("certificate", "key");
  return basic ? check_user(all.user.value) : ok();
}

void read_credentials(Keys& section, ufm::ClientSettings& settings, Errors& errors) {
  Credentials all;
  take(section, all.user);
  for (Key<Path>* const one : {&all.password_file, &all.token_file, &all.certificate, &all.key})
    take(section, *one);
  errors.collect(check_credentials(all));
  if (all.token_file.given)
    settings.auth = ufm::TokenAuth{all.token_file.value};
  else if (all.certificate.given)
    settings.auth = ufm::CertificateAuth{all.certificate.value, all.key.value};
  else
    settings.auth = ufm::BasicAuth{all.user.value, all.password_file.value};
}

Result<std::vector<std::string>> read_addresses(const Value& value) {
  std::vector<std::string> addresses = TRY(json::read_list(value, read_ufm_address));
  if (addresses.empty() || addresses.size() > kMostAddresses)
    return value.wrong("expected 1 to " + std::to_string(kMostAddresses) + " addresses, got " +
                       std::to_string(addresses.size()));
  for (size_t n = 1; n < addresses.size(); ++n)
    if (std::find(addresses.begin(), addresses.begin() + static_cast<std::ptrdiff_t>(n),
                  addresses[n]) != addresses.begin() + static_cast<std::ptrdiff_t>(n))
      return value.wrong("\"" + addresses[n] + "\" is listed twice");
  return addresses;
}

Result<ufm::ForeignMembers> read_foreign_members(const Value& value) {
  return json::read_word<ufm::ForeignMembers>(
      value, {{"report", ufm::ForeignMembers::report}, {"remove", ufm::ForeignMembers::remove}});
}

}  // namespace

void read_ufm(Keys& section, UfmSettings& settings, Errors& errors) {
  if (!section.readable()) return;
  bool given = false;
  section
      .take("addresses", settings.client.addresses,
            [&](const Value& value) {
              given = true;
              return read_addresses(value);
            })
      .take("caFile", settings.client.ca)
      .take("timeoutSeconds", settings.client.timeout, read_seconds<1, 300>)
      .take("foreignMembers", settings.engine.foreign_members, read_foreign_members)
      .take("physicalVirtualMapping", settings.engine.map_vfs)
      .take("readSeconds", settings.engine.read_interval, read_seconds<5, 3600>)
      .take("effectSeconds", settings.engine.effect, read_seconds<0, 3600>);
  if (!given)
    errors.add(unfit("ufm.addresses: expected 1 to " + std::to_string(kMostAddresses) +
                     " of https://HOST or https://HOST:PORT, got none"));
  read_credentials(section, settings.client, errors);
}

Status check_ufm(const Config& config) {
  const bool used = config.engine == EngineKind::ufm;
  if (used && !config.ufm)
    return unfit(
        "ufm: missing: with \"engine\": \"ufm\" it has UFM's addresses and ibpod-sm's credentials");
  if (!used && config.ufm)
    return unfit(
        "ufm: it has no effect without \"engine\": \"ufm\"; set engine to ufm, or remove ufm");
  return ok();
}

}  // namespace ibpod::sm::config
