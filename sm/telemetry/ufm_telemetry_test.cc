#include "sm/telemetry/ufm_telemetry.h"

#include <doctest/doctest.h>

namespace ibpod::sm::telemetry {
namespace {

TEST_CASE("calls to UFM are counted by their result, and timed") {
  log::Log log{log::Level::info};
  Telemetry telemetry{log};
  UfmTelemetry ufm{telemetry};
  const auto shows = [&](const std::string& line) {
    return telemetry.metrics().text().find("\n" + line + "\n") != std::string::npos;
  };
  ufm.called("add", {}, std::chrono::milliseconds(20));
  ufm.called("add", Code::unavailable, std::chrono::milliseconds(3'000));
  CHECK(shows("ibpod_sm_ufm_calls_total{operation=\"add\",result=\"done\"} 1"));
  CHECK(shows("ibpod_sm_ufm_calls_total{operation=\"add\",result=\"unavailable\"} 1"));
  CHECK(shows("ibpod_sm_ufm_call_seconds_count{operation=\"add\"} 2"));
  CHECK(shows("ibpod_sm_ufm_call_seconds_bucket{operation=\"add\",le=\"1\"} 1"));
  ufm.set_members(
      {.widened = 2, .ignored = 3, .foreign = 4, .confined_vfs = 5, .unconfined_vfs = 6});
  CHECK(shows("ibpod_sm_ufm_mapped_vfs{confined=\"yes\"} 5"));
  CHECK(shows("ibpod_sm_ufm_mapped_vfs{confined=\"no\"} 6"));
  CHECK(shows("ibpod_sm_ufm_widened_total 2"));
  CHECK(shows("ibpod_sm_ufm_ignored_total 3"));
  CHECK(shows("ibpod_sm_ufm_foreign_members 4"));
  ufm.set_members({.widened = 2, .ignored = 3, .foreign = 0});
  CHECK(shows("ibpod_sm_ufm_foreign_members 0"));
}

}  // namespace
}  // namespace ibpod::sm::telemetry
