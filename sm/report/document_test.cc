#include "lib/base/files.h"
#include "sm/report/report.h"

#include <set>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

TEST_CASE(
    "the document lists every metric, with its kind and labels, in this order, and no other") {
  const std::string all = read_file("docs/metrics.md").value();
  const size_t begin = all.find("\n# Metrics of ibpod-sm\n");
  REQUIRE(begin != all.npos);
  const std::string document = all.substr(begin);
  size_t before = 0;
  for (const http::Family& family : metric_families()) {
    CAPTURE(family.name);
    std::string row =
        "\n| `" + std::string(family.name) + "` | " + std::string(http::name(family.kind)) + " |";
    for (const std::string_view label : family.labels) row.append(" `").append(label).append("`");
    row.append(" | ").append(family.help).append(" |\n");
    const size_t at = document.find(row);
    CHECK(at != document.npos);
    CHECK(at >= before);
    before = at;
  }
  size_t rows = 0;
  for (size_t at = 0; (at = document.find("\n| `ibpod_", at)) != document.npos; ++at) ++rows;
  CHECK(rows == metric_families().size());
}

// The words that a metric's labels, ibpodctl and refusals share.
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
  for (int n = 0; n <= static_cast<int>(fabric::State::unknown); ++n)
    has_row(name(static_cast<fabric::State>(n)));
  for (int n = 0; n <= static_cast<int>(Health::stuck); ++n) has_row(name(static_cast<Health>(n)));
}

TEST_CASE("names are of one form: a counter ends in _total, nothing else does") {
  std::set<std::string_view> names;
  for (const http::Family& family : metric_families()) {
    CAPTURE(family.name);
    CHECK(family.name.starts_with("ibpod_sm_"));
    CHECK(family.name.ends_with("_total") == (family.kind == http::Kind::counter));
    CHECK(names.insert(family.name).second);
  }
}

}  // namespace
}  // namespace ibpod::sm
