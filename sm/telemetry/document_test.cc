#include "sm/telemetry/telemetry.h"
#include "tests/support/metric_families.h"

namespace ibpod::sm::telemetry {
namespace {

TEST_CASE(
    "the document lists every metric, with its kind and labels, in this order, and no other") {
  const std::string all = read_file("docs/metrics.md").value();
  const size_t begin = all.find("\n# Metrics of ibpod-sm\n");
  REQUIRE(begin != all.npos);
  check_document(std::string_view(all).substr(begin), metric_families());
}

// The words that metric labels, ibpodctl and errors have in common.
TEST_CASE("every state, reason and health has its row in the document") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const auto has_row = [&](std::string_view word) {
    CAPTURE(word);
    const std::string quoted = "`" + std::string(word) + "`";
    CHECK((document.find("\n| " + quoted) != document.npos ||
           document.find(", " + quoted + " |") != document.npos));
  };
  for (int n = 1; n <= static_cast<int>(fabric::Reason::lease); ++n)
    has_row(name(static_cast<fabric::Reason>(n)));
  for (int n = 0; n <= static_cast<int>(fabric::BindingState::unknown); ++n)
    has_row(name(static_cast<fabric::BindingState>(n)));
  for (int n = 0; n <= static_cast<int>(engine::Health::stuck); ++n)
    has_row(engine::name(static_cast<engine::Health>(n)));
}

TEST_CASE("names are of one form") { check_names("ibpod_sm_", metric_families()); }

}  // namespace
}  // namespace ibpod::sm::telemetry
