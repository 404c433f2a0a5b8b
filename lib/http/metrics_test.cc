#include "lib/http/metrics.h"

#include <doctest/doctest.h>

namespace ibpod::http {
namespace {

const Family kDevices{"devices", "Devices of a pool.", Kind::gauge, {"pool", "state"}};
const Family kCalls{"calls_total", "Calls.", Kind::counter, {"result"}};
const Family kUp{"up", "Whether it is up."};
const Family kSeconds{"seconds", "How long.", Kind::histogram, {}, {0.1, 1}};

TEST_CASE("numbers are shown by family and label, in a fixed order") {
  Metrics metrics;
  metrics.set(kUp, {}, 1);
  metrics.set(kDevices, {"b", "healthy"}, 2);
  metrics.set(kDevices, {"a", "healthy"}, 3);
  metrics.add(kCalls, {"ok"});
  metrics.add(kCalls, {"ok"}, 2);
  CHECK(metrics.text() ==
        "# HELP calls_total Calls.\n"
        "# TYPE calls_total counter\n"
        "calls_total{result=\"ok\"} 3\n"
        "# HELP devices Devices of a pool.\n"
        "# TYPE devices gauge\n"
        "devices{pool=\"a\",state=\"healthy\"} 3\n"
        "devices{pool=\"b\",state=\"healthy\"} 2\n"
        "# HELP up Whether it is up.\n"
        "# TYPE up gauge\n"
        "up 1\n");
}

TEST_CASE("a histogram counts observations up to each bound") {
  Metrics metrics;
  for (const double value : {0.0625, 0.5, 0.5, 4.0}) metrics.observe(kSeconds, {}, value);
  CHECK(metrics.text() ==
        "# HELP seconds How long.\n"
        "# TYPE seconds histogram\n"
        "seconds_count 4\n"
        "seconds_sum 5.0625\n"
        "seconds_bucket{le=\"0.1\"} 1\n"
        "seconds_bucket{le=\"1\"} 3\n"
        "seconds_bucket{le=\"+Inf\"} 4\n");
}

TEST_CASE("what is gone is shown no longer") {
  Metrics metrics;
  metrics.set(kDevices, {"a", "healthy"}, 3);
  metrics.set(kDevices, {"b", "healthy"}, 3);
  metrics.replace(kDevices, {{{"c", "unhealthy"}, 1}});
  for (const char* gone : {"\"a\"", "\"b\""}) CHECK(metrics.text().find(gone) == std::string::npos);
  CHECK(metrics.text().ends_with("devices{pool=\"c\",state=\"unhealthy\"} 1\n"));
  metrics.replace(kDevices, {});
  CHECK(metrics.text().empty());
}

TEST_CASE("the values of labels cannot break out of their line") {
  Metrics metrics;
  metrics.set(kCalls, {"a\"} 1\nup 7\\"}, 1);
  CHECK(metrics.text().ends_with("calls_total{result=\"a\\\"} 1\\nup 7\\\\\"} 1\n"));
}

TEST_CASE("large counters keep their digits") {
  Metrics metrics;
  metrics.set(kUp, {}, 4503599627370497.0);
  CHECK(metrics.text().ends_with("up 4503599627370497\n"));
}

}  // namespace
}  // namespace ibpod::http
