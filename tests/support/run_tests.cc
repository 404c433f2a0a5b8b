#include "tests/support/run_tests.h"

#include <cstdio>

#include <doctest/doctest.h>
#include <unistd.h>

namespace ibpod {
namespace {

unsigned chosen = 0;  // test cases, of the whole program
std::string skipped;  // the reason of the last skipped case; empty: none was skipped

struct Count : doctest::IReporter {
  explicit Count(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    chosen = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("count", 1, Count);

}  // namespace

int run_tests(int count, char** arguments) {
  doctest::Context context(count, arguments);
  const int code = context.run();
  if (code != 0 || context.shouldExit()) return code;
  if (chosen == 0) {
    std::fputs("no test case has that name\n", stderr);
    return 1;
  }
  if (skipped.empty()) return code;
  std::printf("skipped: %s\n", skipped.c_str());
  return kSkipped;
}

void skip_case(const std::string& reason) { skipped = reason; }

bool root_can(const std::string& action) {
  if (::geteuid() == 0) return true;
  skip_case("only root can " + action);
  return false;
}

}  // namespace ibpod
