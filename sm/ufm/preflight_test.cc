#include "sm/ufm/preflight.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using Kind = engine::EngineFinding::Kind;

// The answers of a UFM without a fault.
PreflightAnswers good() {
  return {std::string("6.23.1-6"),
          SiteSettings{.default_membership = ib::Membership::limited, .m_key_per_port = false},
          std::vector<ib::Guid>{ib::Guid(0x0002c90300a1b2c3)}, std::vector<UfmVport>{}};
}

const Error kDenied(Code::denied, "UFM answers 403");
const Error kDown(Code::unavailable, "UFM answers 503");

TEST_CASE("a UFM that is set up as it should be has no finding, with and without virtual ports") {
  CHECK(findings_of(good()).empty());
  PreflightAnswers answers = good();
  answers.vports = std::vector<UfmVport>{{ib::Guid(1), ib::Guid(0x0002c90300a1b2c3)}};
  CHECK(findings_of(answers).empty());
  // No binding depends on the list.
  answers.vports = kDown;
  CHECK(findings_of(answers).empty());
}

TEST_CASE("each fault is one finding, with its consequence and its remedy") {
  const struct {
    const char* what;
    std::function<void(PreflightAnswers&)> plant;
    Kind kind;
    size_t count;
    const char *text, *remedy;
  } rows[] = {
      {"an old release", [](auto& a) { a.version = std::string("6.14.5-2"); }, Kind::release, 1,
       "its release \"6.14.5-2\" is older than 6.23.1: ", "upgrade UFM to 6.23.1 or later"},
      {"no release", [](auto& a) { a.version = kDown; }, Kind::release, 1,
       "its release is not known (UFM answers 503), and may be older than 6.23.1", "upgrade UFM"},
      {"a release of another form", [](auto& a) { a.version = std::string("next"); }, Kind::release,
       1, "its release \"next\" has an unknown form", "upgrade UFM"},
      {"full members", [](auto& a) { a.settings->default_membership = ib::Membership::full; },
       Kind::default_full, 1, "default_membership is full: any two ports reach each other",
       "set default_membership = limited under [MngNetwork] in UFM's gv.cfg"},
      {"a default that is not shown", [](auto& a) { a.settings->default_membership.reset(); },
       Kind::unread_setting, 1, "it does not show default_membership: it is not known",
       "check that gv.cfg has default_membership = limited"},
      {"an M_Key for each port", [](auto& a) { a.settings->m_key_per_port = true; },
       Kind::per_port_m_key, 1, "m_key_per_port is on: each port has an M_Key that only UFM knows",
       "give no partition the proof `port`"},
      {"M_Keys that are not shown", [](auto& a) { a.settings->m_key_per_port.reset(); },
       Kind::unread_setting, 1, "it does not show m_key_per_port: if it is on",
       "check m_key_per_port in UFM's gv.cfg"},
      {"no ports", [](auto& a) { a.ports->clear(); }, Kind::no_port, 1,
       "it shows no ports of adapters", "check that UFM's OpenSM runs and is master"},
      {"ports that are not shown", [](auto& a) { a.ports = kDown; }, Kind::unread_setting, 1,
       "its ports cannot be read (UFM answers 503)", "check UFM's log"},
      {"a right", [](auto& a) { a.vports = kDenied; }, Kind::no_right, 1,
       "it denies ibpod-sm's user the right to read resources/vports: ", "give the user"},
      {"two rights",
       [](auto& a) {
         a.settings = kDenied;
         a.ports = kDenied;
       },
       Kind::no_right, 2, "the right to read app/smconf, resources/ports: ", "give the user"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    PreflightAnswers answers = good();
    row.plant(answers);
    const std::vector<engine::EngineFinding> findings = findings_of(answers);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == row.kind);
    CHECK(findings[0].count == row.count);
    CHECK(findings[0].subject == "UFM");
    CHECK_MESSAGE(findings[0].text.find(row.text) != std::string::npos, findings[0].text);
    CHECK_MESSAGE(findings[0].remedy.find(row.remedy) != std::string::npos, findings[0].remedy);
  }
}

// Answers with what it has.
struct Api : UfmApi {
  Result<std::vector<UfmPartition>> partitions() override { return kDown; }
  Result<std::optional<UfmPartition>> partition(ib::PKey) override { return kDown; }
  Status add(const Addition&) override { return kDown; }
  Status remove(ib::PKey, const std::vector<ib::Guid>&) override { return kDown; }
  Result<std::vector<GuidGroup>> guid_groups() override { return kDown; }
  Result<uint64_t> add_guid_group(ib::Guid, const std::vector<ib::Guid>&) override { return kDown; }
  Status remove_guid_group(uint64_t) override { return kDown; }
  Result<std::string> version() override { return ++calls, answers.version; }
  Result<SiteSettings> settings() override { return ++calls, answers.settings; }
  Result<std::vector<ib::Guid>> ports() override { return ++calls, answers.ports; }
  Result<std::vector<UfmVport>> vports() override { return ++calls, answers.vports; }
  std::vector<std::string> denials() const override { return answers.denials; }

  PreflightAnswers answers = good();
  int calls = 0;
};

TEST_CASE("the calls are made one by one, again after a while, and sooner if one was lost") {
  using std::chrono::minutes, std::chrono::seconds;
  Api api;
  Preflight preflight;
  Preflight::Time now(minutes(100));
  const auto run = [&] {
    int ticks = 0;
    while (preflight.tick(api, now)) CHECK(api.calls == ++ticks);
    CHECK(ticks == 4);
    api.calls = 0;
  };
  api.answers.version = std::string("6.0.0");
  run();
  CHECK(preflight.findings().size() == 1);
  CHECK(preflight.due() == now + minutes(10));
  now += minutes(10) - seconds(1);
  CHECK_FALSE(preflight.tick(api, now));
  now += seconds(1);
  // Until all answers are there, the last findings stay.
  api.answers = good();
  api.answers.ports = kDown;
  REQUIRE(preflight.tick(api, now));
  CHECK(preflight.findings().front().kind == Kind::release);
  api.calls = 0;
  for (int n = 1; n < 4; ++n) REQUIRE(preflight.tick(api, now));
  api.calls = 0;
  CHECK(preflight.findings().front().kind == Kind::unread_setting);
  CHECK(preflight.due() == now + minutes(1));
  now += minutes(1);
  api.answers = good();
  api.answers.denials = {"GET /resources/pkeys at https://ufm-2: answered 401"};
  run();
  REQUIRE(preflight.findings().size() == 1);
  CHECK(preflight.findings().front().kind == Kind::no_right);
  CHECK(preflight.findings().front().text.find("https://ufm-2: answered 401") != std::string::npos);
  now += minutes(10);
  api.answers = good();
  run();
  CHECK(preflight.findings().empty());
}

TEST_CASE("settings that cannot be read are two unknown settings, with the reason") {
  PreflightAnswers answers = good();
  answers.settings = kDown;
  const auto findings = findings_of(answers);
  REQUIRE(findings.size() == 2);
  for (const engine::EngineFinding& one : findings) {
    CHECK(one.kind == Kind::unread_setting);
    CHECK(one.text.find("(UFM answers 503)") != std::string::npos);
  }
}

TEST_CASE("releases are compared number by number, without the build") {
  const auto is_old = [](const std::string& release) {
    PreflightAnswers answers = good();
    answers.version = release;
    return !findings_of(answers).empty();
  };
  for (const char* good : {"6.23.1", "6.23.1-6", "6.23.2-1", "6.24.0", "6.100.0", "7.0.0-1"}) {
    CAPTURE(good);
    CHECK_FALSE(is_old(good));
  }
  for (const char* old : {"6.23.0-99", "6.9.9", "5.99.99", "6.23", "", "6", "6.23.", "6.23.x",
                          "6.23.1x", "-6.23.1", "6,23,1", "99999999999.0.0"}) {
    CAPTURE(old);
    CHECK(is_old(old));
  }
}

TEST_CASE("a text of UFM's is shown in part, and without control characters") {
  PreflightAnswers answers = good();
  answers.version = "\x1b[2J" + std::string(10'000, 'x');
  const auto findings = findings_of(answers);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].text.find('\x1b') == std::string::npos);
  CHECK(findings[0].text.size() < 500);
}

}  // namespace
}  // namespace ibpod::sm::ufm
