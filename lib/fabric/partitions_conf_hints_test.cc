// The text that a refusal suggests is written at the place that it names: then the file is valid.
#include "lib/fabric/partitions_conf.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

constexpr OpenSmOptions kAll{true, true};

// Behind the last "write ", to its end: in quotes, a word, or a word in front of " alone" and "
// if".
std::string advice_of(const std::string& refusal) {
  const size_t mark = refusal.rfind("write ");
  REQUIRE_MESSAGE(mark != refusal.npos, refusal);
  std::string advice = refusal.substr(mark + 6);
  if (advice.front() == '"') return advice.substr(1, advice.find('"', 1) - 1);
  return advice.substr(0, advice.find(' '));
}

// "did you mean "indx0"?"
std::string meant_by(const std::string& refusal) {
  const size_t begin = refusal.find("did you mean \"") + 14;
  return refusal.substr(begin, refusal.find('"', begin) - begin);
}

struct Bad {
  std::string text;
  std::string word;  // what stands in the place, and has the advice instead
};

void check_mended(const Bad& bad, std::string (*advised)(const std::string&)) {
  CAPTURE(bad.text);
  const auto read = read_partitions(bad.text, kAll);
  REQUIRE_FALSE(read);
  const std::string refusal = read.error().text();
  CAPTURE(refusal);
  size_t line = 0, column = 0;
  REQUIRE(std::sscanf(refusal.c_str(), "line %zu, column %zu: ", &line, &column) == 2);
  size_t at = 0;
  for (; line > 1; --line) at = bad.text.find('\n', at) + 1;
  at += column - 1;
  REQUIRE(bad.text.substr(at, bad.word.size()) == bad.word);
  std::string mended = bad.text;
  mended.replace(at, bad.word.size(), advised(refusal));
  const auto again = read_partitions(mended, kAll);
  CHECK_MESSAGE(again, again.error().text());
}

TEST_CASE("what a refusal says to write is right in the place that it names") {
  for (const Bad& bad : {
           Bad{"Default=7fff : SELF=full;", "7fff"},
           Bad{"Default=32767 : SELF=full;", "32767"},
           Bad{"management=0x7fff : SELF=full;", "management=0x7fff"},
           Bad{"a=0x8001 : SELF;", "0x8001"},
           Bad{"a=8001 : SELF;", "8001"},
           Bad{"a=0006 : SELF;", "0006"},
           Bad{"a=10 : SELF;", "10"},
           Bad{"a=0x1 : 0002c90300001234=full;", "0002c90300001234"},
           Bad{"a=0x1 : 0x2c90300001234=full;", "0x2c90300001234"},
           Bad{"a=0x1, mtu=2048 : SELF;", "2048"},
           Bad{"a=0x1, mtu=04 : SELF;", "04"},
           Bad{"a=0x1, rate=100 : SELF;", "100"},
           Bad{"a=0x1, rate=2.5 : SELF;", "2.5"},
           Bad{"a=0x1, rate=010 : SELF;", "010"},
           Bad{"a=0x1 : mgid=ff12:401b::16;", "mgid=ff12:401b::16"},
       })
    check_mended(bad, advice_of);
  for (const Bad& bad : {
           Bad{"a=0x1, index0 : SELF;", "index0"},
           Bad{"a=0x1, ipiob : SELF;", "ipiob"},
           Bad{"a=0x1, MTU=4 : SELF;", "MTU"},
           Bad{"a=0x1, qkey=1 : SELF;", "qkey"},
           Bad{"a=0x1 : SELF=FULL;", "FULL"},
           Bad{"a=0x1 : SELF=fulll;", "fulll"},
           Bad{"a=0x1, defmember=limitd : SELF;", "limitd"},
       })
    check_mended(bad, meant_by);
}

// A ',' for a '=', and with it the rest of the list no list any more.
TEST_CASE("the line with the mistake is named, not the one that suffers from it") {
  const auto told = [](const std::string& text) {
    return read_partitions(text, kAll).error().text();
  };
  CHECK(told("storage=0x2, ipoib :\n  0x0002c90300001204=full,\n  0x0002c90300001205,full;\n"
             "  0x0002c90300001206=full;\n")
            .ends_with(": a membership follows '=': write 0x0002c90300001205=full"));
  CHECK(told("a=0x1 :\n 0x0002c90300001204,\n 0x0002c90300001205,full;\n 0x17;\n")
            .starts_with("line 3, column 21: "));
  CHECK(told("a=0x1 :\n 0x0002c90300001204=full;\n 0x0002c90300001205=full;\n")
            .ends_with(
                "(or, if it continues the previous definition: ',' instead of the ';' of line 2)"));
  CHECK(read_partitions("a=0x1 :\n 0x0002c90300001204=full,\n 0x0002c90300001205=full;\n", kAll));
}

}  // namespace
}  // namespace ibpod::fabric
