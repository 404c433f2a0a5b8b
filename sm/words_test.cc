// The values of metric labels are the same in docs/metrics.md and in the code.
#include "lib/base/files.h"
#include "lib/rpc/callers.h"
#include "sm/diagnose/health_checks.h"
#include "sm/probe/probe_result.h"
#include "sm/telemetry/telemetry.h"
#include "tests/support/temp_folder.h"

#include <regex>
#include <set>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

// The words in backquotes in the row with that label.
std::set<std::string> words_of(const std::string& document, const std::string& label) {
  const size_t begin = document.find("\n| `" + label + "` | ");
  REQUIRE(begin != document.npos);
  const std::string row = document.substr(
      begin + 6 + label.size(), document.find('\n', begin + 1) - begin - 6 - label.size());
  std::set<std::string> words;
  const std::regex quoted("`([^`]+)`");
  for (std::sregex_iterator at(row.begin(), row.end(), quoted), end; at != end; ++at)
    words.insert(at->str(1));
  return words;
}

template <typename Word>
void check_words(const std::set<std::string>& documented, Word last) {
  for (int n = 0; n <= static_cast<int>(last); ++n) {
    const std::string word(name(static_cast<Word>(n)));
    CAPTURE(word);
    CHECK(documented.contains(word));
  }
}

// An alert rule copied from the page has to match the metrics.
TEST_CASE("every word of a label is on the page as it is served") {
  const std::string all = read_file("docs/metrics.md").value();
  const std::string page = all.substr(all.find("\n# Metrics of ibpod-sm\n"));
  const std::set<std::string> results = words_of(page, "result");
  check_words(results, Code::internal);
  check_words(results, probe::ProbeFailure::changed);
  for (const char* other : {"written", "granted"}) CHECK(results.contains(other));
  check_words(words_of(page, "proof"), fabric::Proof::node);
  check_words(words_of(page, "cause"), static_cast<rpc::Cause>(rpc::kCauses - 1));
  check_words(words_of(page, "kind"), diagnose::kLastIssue);
  TempFolder folder;
  log::Log log{log::Level::info};
  REQUIRE(log.open(folder.path() / "log"));
  telemetry::Telemetry telemetry(log);
  telemetry.engine({}, 1);
  telemetry.scanned({}, 0, std::chrono::duration<double>(0));
  telemetry.read(0);
  const std::string served = telemetry.metrics().text();
  const std::regex sample("ibpod_sm_\\w+\\{(event|state|for|version)=\"([^\"]+)\"\\}");
  size_t seen = 0;
  for (std::sregex_iterator at(served.begin(), served.end(), sample), end; at != end;
       ++at, ++seen) {
    CAPTURE(at->str(2));
    CHECK(words_of(page, at->str(1)).contains(at->str(2)));
  }
  CHECK(seen >= 11 + 4 + 2 + 3);
}

}  // namespace
}  // namespace ibpod::sm
