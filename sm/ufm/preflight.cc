#include "sm/ufm/preflight.h"

#include "lib/base/join.h"
#include "lib/json/value.h"

#include <array>
#include <charconv>
#include <optional>

namespace ibpod::sm::ufm {
namespace {

using engine::EngineFinding;
using Kind = EngineFinding::Kind;
using Findings = std::vector<EngineFinding>;

constexpr size_t kMostQuoted = 60;  // bytes of a text of UFM's in a finding

std::string as_shown(const std::string& text) {
  return json::Value(text.substr(0, kMostQuoted)).ascii();
}

using Release = std::array<unsigned, 3>;

// "6.23.1-6": the build, after the "-", does not count. Nothing: it has another form.
std::optional<Release> read_release(std::string_view text) {
  Release release{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (size_t n = 0; n < release.size(); ++n) {
    if (n > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [stopped, error] = std::from_chars(at, end, release[n]);
    if (error != std::errc()) return std::nullopt;
    at = stopped;
  }
  return at == end || *at == '-' ? std::optional(release) : std::nullopt;
}

bool denied(const Error& error) { return error.code() == Code::denied; }

template <typename T>
bool failed(const Result<T>& answer) {
  return !answer && !denied(answer.error());
}

void check_release(const Result<std::string>& version, Findings& findings) {
  if (!version && denied(version.error())) return;
  const std::string least(kLeastRelease);
  const auto add = [&](const std::string& fault) {
    findings.push_back(
        {Kind::release, 1, "UFM",
         fault + ": older ones answer some calls in another form, so that ibpod-sm may not see a "
                 "membership that UFM has made full",
         "upgrade UFM to " + least +
             " or later (`curl -u USER https://UFM/ufmRest/app/ufm_version`"
             " shows its release)"});
  };
  if (!version)
    return add("its release is not known (" + version.error().text() + "), and may be older than " +
               least);
  const std::optional<Release> release = read_release(*version);
  if (!release)
    return add("its release " + as_shown(*version) +
               " has an unknown form, and may be older than " + least);
  if (*release < *read_release(kLeastRelease))
    add("its release " + as_shown(*version) + " is older than " + least);
}

void check_default(const std::optional<ib::Membership>& membership, const std::string& why,
                   Findings& findings) {
  const std::string remedy =
      "set default_membership = limited under [MngNetwork] in UFM's gv.cfg and restart UFM";
  if (!membership)
    findings.push_back({Kind::unread_setting, 1, "UFM",
                        "it does not show default_membership" + why +
                            ": it is not known whether every port is a full member of the default "
                            "partition, which reaches every port of the fabric",
                        "check that gv.cfg has default_membership = limited; if not, " + remedy});
  else if (*membership == ib::Membership::full)
    findings.push_back(
        {Kind::default_full, 1, "UFM",
         "default_membership is full: any two ports reach each other by P_Key 0x7fff, whatever "
         "partitions their pods are in",
         remedy + "; until then ibpod-sm verifies a port with 0xffff only with "
                  "defaultPartition.others full"});
}

void check_m_keys(const std::optional<bool>& per_port, const std::string& why, Findings& findings) {
  if (!per_port)
    return findings.push_back(
        {Kind::unread_setting, 1, "UFM",
         "it does not show m_key_per_port" + why +
             ": if it is on, no port answers ibpod-sm, and only nodes report their tables",
         "check m_key_per_port in UFM's gv.cfg"});
  if (*per_port)
    findings.push_back(
        {Kind::per_port_m_key, 1, "UFM",
         "m_key_per_port is on: each port has an M_Key that only UFM knows, so no port answers "
         "ibpod-sm. Bindings are verified by the reports of their nodes alone, bindings in "
         "partitions with the proof `port` are never verified, and it is not known what switches "
         "enforce",
         "give no partition the proof `port`. Or set m_key_per_port = false in UFM's gv.cfg "
         "and an m_key in its opensm.conf, restart UFM, and name a file with the same m_key as "
         "opensm.mKeyFile in ibpod-sm's configuration"});
}

void check_settings(const Result<SiteSettings>& settings, Findings& findings) {
  if (!settings && denied(settings.error())) return;
  const std::string why = settings ? "" : " (" + settings.error().text() + ")";
  const SiteSettings known = settings ? *settings : SiteSettings{};
  check_default(known.default_membership, why, findings);
  check_m_keys(known.m_key_per_port, why, findings);
}

void check_ports(const Result<std::vector<ib::Guid>>& ports, Findings& findings) {
  if (failed(ports))
    findings.push_back({Kind::unread_setting, 1, "UFM",
                        "its ports cannot be read (" + ports.error().text() +
                            "): it is not known whether UFM has discovered the fabric",
                        "check UFM's log (/opt/ufm/files/log/rest_api.log)"});
  else if (ports && ports->empty())
    findings.push_back(
        {Kind::no_port, 1, "UFM",
         "it shows no ports of adapters: it has not discovered the fabric, or manages another one. "
         "It accepts members all the same, and they are in no table",
         "check that UFM's OpenSM runs and is master (`sminfo`, and opensm.log in "
         "/opt/ufm/files/log), and that ufm.addresses names the UFM of this fabric"});
}

void check_rights(const PreflightAnswers& answers, Findings& findings) {
  std::vector<std::string> calls;
  const auto note = [&](const auto& answer, const char* call) {
    if (!answer && denied(answer.error())) calls.emplace_back(call);
  };
  note(answers.version, "app/ufm_version");
  note(answers.settings, "app/smconf");
  note(answers.ports, "resources/ports");
  note(answers.vports, "resources/vports");
  if (calls.empty()) return;
  findings.push_back({Kind::no_right, calls.size(), "UFM",
                      "it denies ibpod-sm's user the right to read " + join(calls, ", ") +
                          ": what they show is not checked",
                      "give the user of ibpod-sm a role that may read them, in UFM's settings of "
                      "users; if the password or token is wrong, ibpod-sm's log says so"});
}

void check_denials(const std::vector<std::string>& denials, Findings& findings) {
  if (denials.empty()) return;
  findings.push_back(
      {Kind::no_right, denials.size(), "UFM",
       "while another address is the master, UFM denies ibpod-sm at " + join_first(2, denials) +
           ": after a failover no change of partitions would be possible",
       "give ibpod-sm's user the same password, token or certificate and the same role on each "
       "UFM of the pair"});
}

const Error kNotAsked(Code::unavailable, "it was not asked yet");
constexpr std::chrono::minutes kPeriod{10}, kRetry{1};

template <typename T>
bool is_lost(const Result<T>& answer) {
  return !answer && answer.error().code() == Code::unavailable;
}

bool is_complete(const PreflightAnswers& answers) {
  return !is_lost(answers.version) && !is_lost(answers.settings) && !is_lost(answers.ports) &&
         !is_lost(answers.vports);
}

}  // namespace

Findings findings_of(const PreflightAnswers& answers) {
  Findings findings;
  check_release(answers.version, findings);
  check_settings(answers.settings, findings);
  check_ports(answers.ports, findings);
  check_rights(answers, findings);
  check_denials(answers.denials, findings);
  return findings;
}

Preflight::Preflight() : answers_{kNotAsked, kNotAsked, kNotAsked, kNotAsked} {}

bool Preflight::tick(UfmApi& api, Time now) {
  if (now < due_) return false;
  switch (next_++) {
    case 0:
      answers_.version = api.version();
      return true;
    case 1:
      answers_.settings = api.settings();
      return true;
    case 2:
      answers_.ports = api.ports();
      return true;
    default:
      break;
  }
  answers_.vports = api.vports();
  answers_.denials = api.denials();
  findings_ = findings_of(answers_);
  next_ = 0;
  due_ = now + (is_complete(answers_) ? kPeriod : kRetry);
  return true;
}

}  // namespace ibpod::sm::ufm
