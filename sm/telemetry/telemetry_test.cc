#include "sm/telemetry/telemetry.h"

#include "tests/support/temp_folder.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::sm::telemetry {
namespace {

struct Bed {
  TempFolder folder;
  log::Log log{log::Level::info};
  Telemetry report{log};

  Bed() { REQUIRE(log.open(folder.path() / "log")); }
  // The lines since the last call.
  std::string logged() {
    const std::string all = read_file(folder.path() / "log").value();
    const std::string fresh = all.substr(read);
    read = all.size();
    return fresh;
  }
  bool shows(const std::string& line) {
    return report.metrics().text().find("\n" + line + "\n") != std::string::npos;
  }
  size_t read = 0;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the contents of the database at the start are one line; an empty database is another") {
  Bed bed;
  bed.report.loaded("/s/promises.db", 2, 3, 1);
  CHECK(has(bed.logged(), "\"/s/promises.db holds partitions: 2, bindings: 3, nodes: 1\""));
  bed.report.loaded("/s/promises.db", 0, 0, 0);
  CHECK(has(bed.logged(), "/s/promises.db is empty: no partitions, bindings or nodes"));
}

TEST_CASE("calls to UFM are counted by their result, and timed") {
  Bed bed;
  bed.report.ufm_call("add", {}, std::chrono::milliseconds(20));
  bed.report.ufm_call("add", Code::unavailable, std::chrono::milliseconds(3'000));
  CHECK(bed.shows("ibpod_sm_ufm_calls_total{operation=\"add\",result=\"done\"} 1"));
  CHECK(bed.shows("ibpod_sm_ufm_calls_total{operation=\"add\",result=\"unavailable\"} 1"));
  CHECK(bed.shows("ibpod_sm_ufm_call_seconds_count{operation=\"add\"} 2"));
  CHECK(bed.shows("ibpod_sm_ufm_call_seconds_bucket{operation=\"add\",le=\"1\"} 1"));
  bed.report.ufm_members(
      {.widened = 2, .ignored = 3, .foreign = 4, .confined_vfs = 5, .unconfined_vfs = 6});
  CHECK(bed.shows("ibpod_sm_ufm_mapped_vfs{confined=\"yes\"} 5"));
  CHECK(bed.shows("ibpod_sm_ufm_mapped_vfs{confined=\"no\"} 6"));
  CHECK(bed.shows("ibpod_sm_ufm_widened_total 2"));
  CHECK(bed.shows("ibpod_sm_ufm_ignored_total 3"));
  CHECK(bed.shows("ibpod_sm_ufm_foreign_members 4"));
  bed.report.ufm_members({.widened = 2, .ignored = 3, .foreign = 0});
  CHECK(bed.shows("ibpod_sm_ufm_foreign_members 0"));
  bed.report.change_reached("placed", std::chrono::milliseconds(200));
  CHECK(bed.shows("ibpod_sm_change_seconds_count{version=\"placed\"} 1"));
}

// Telemetry with a clock of its own.
struct Limited : Bed {
  size_t lines(const std::string& part) {
    const std::string all = logged();
    size_t found = 0;
    for (size_t at = 0; (at = all.find(part, at)) != all.npos; ++at) ++found;
    return found;
  }
  LineLimit::Time now{std::chrono::seconds(100)};
  Telemetry limited{log, [this] { return now; }};
};

const fabricapi::Caller kNode{fabricapi::Role::node, "n1", "CN=n1"};

TEST_CASE_FIXTURE(Limited, "refusals of one caller are so many lines a second, and a count") {
  const auto refuse = [&](const fabricapi::Caller& caller) {
    limited.audit(caller, "sync", "n2", Error(Code::denied, "not for n2"));
  };
  for (int n = 0; n < 1000; ++n) refuse(kNode);
  CHECK(lines("\"audit\":\"sync\"") == 10);
  refuse({fabricapi::Role::node, "n1", "DNS=n1.nodes"});  // another certificate of the same node
  CHECK(lines("DNS=n1.nodes") == 0);
  refuse({fabricapi::Role::node, "n3", "CN=n3"});
  CHECK(lines("CN=n3") == 1);
  limited.log_dropped();
  CHECK(lines("were not written") == 0);
  now += LineLimit::kWindow;
  limited.log_dropped();
  const std::string line = logged();
  CHECK(has(line, "991 lines about node n1 were not written"));
  CHECK(has(line, "\"dropped\":991"));
  CHECK(has(limited.metrics().text(), "\nibpod_sm_dropped_log_lines_total 991\n"));
  CHECK(has(limited.metrics().text(),
            "ibpod_sm_requests_total{action=\"sync\",result=\"denied\"} 1002"));
  limited.log_dropped();
  CHECK(logged().empty());
}

TEST_CASE_FIXTURE(Limited, "refusals of many callers have a limit in total, and are counted") {
  for (int n = 0; n < 1000; ++n)
    limited.audit({fabricapi::Role::node, "n" + std::to_string(n), "CN=n"}, "sync", "other",
                  Error(Code::denied, "not for other"));
  CHECK(lines("\"audit\":\"sync\"") == 100);
  now += LineLimit::kWindow;
  limited.log_dropped();
  const std::string all = logged();
  CHECK(has(all, "900 lines about other callers were not written: all callers"));
}

TEST_CASE_FIXTURE(Limited, "Binds of namespaces that are not remembered have one line, and count") {
  limited.uncertain_first_binding(kNode, "n1", true);
  limited.uncertain_first_binding(kNode, "n1", false);
  CHECK(lines("node n1 has had pods of more namespaces") == 1);
  CHECK(has(limited.metrics().text(), "\nibpod_sm_first_bindings_total 2\n"));
}

TEST_CASE_FIXTURE(Limited, "audit lines of changes are all written") {
  for (int n = 0; n < 1000; ++n) limited.audit(kNode, "bind", "n1/c/net1", ok());
  CHECK(lines("\"audit\":\"bind\"") == 1000);
  for (int n = 0; n < 1000; ++n)
    limited.audit(kNode, "bind", "n1/c/net1", ok(), Telemetry::Effect::none);
  CHECK(lines("\"audit\":\"bind\"") == 10);
}

TEST_CASE_FIXTURE(
    Limited, "callers without a role share one account, whatever names their certificates have") {
  for (int n = 0; n < 1000; ++n)
    limited.unauthorized(
        Error(Code::denied, "certificate matches no role: CN=eve" + std::to_string(n)));
  CHECK(lines("CN=eve") == 10);
  CHECK(has(limited.metrics().text(), "\nibpod_sm_unauthorized_calls_total 1000\n"));
  now += LineLimit::kWindow;
  limited.unauthorized(Error(Code::denied, "certificate matches no role: CN=eve"));
  const std::string all = logged();
  CHECK(has(all, "990 lines about callers without a role were not written"));
  CHECK(has(all, "certificate matches no role: CN=eve"));
}

TEST_CASE("an unauthorized call leaves a line with the certificate's names, and is counted") {
  Bed bed;
  bed.report.unauthorized(Error(Code::denied, "certificate matches no role: CN=eve"));
  const std::string line = bed.logged();
  CHECK(has(line, "\"audit\":\"call\""));
  CHECK(has(line, "\"result\":\"denied\""));
  CHECK(has(line, "CN=eve"));
  CHECK(bed.shows("ibpod_sm_unauthorized_calls_total 1"));
}

}  // namespace
}  // namespace ibpod::sm::telemetry
