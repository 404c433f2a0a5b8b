// Files that OpenSM refuses, and thereby opens the fabric, or reads as something else than stands
// there. Where the comment says what it reads, that was seen.
#include "lib/fabric/partitions_conf.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

using namespace std::string_literals;

const std::string kDefault = "Default=0x7fff, ipoib : ALL=limited, SELF=full;\n";
constexpr OpenSmOptions kNone{};
constexpr OpenSmOptions kAll{true, true};

struct Bad {
  std::string text;
  std::string place;  // of the refusal; empty: of the file as a whole
  std::string right;  // part of its text
};

void check_refused(const Bad& bad, const OpenSmOptions& options) {
  CAPTURE(bad.text);
  const auto read = read_partitions_conf(bad.text, options);
  REQUIRE_FALSE(read.ok());
  const std::string text = read.error().text();
  CAPTURE(text);
  CHECK(read.error().code() == Code::invalid);
  if (!bad.place.empty())
    CHECK(text.starts_with("line " + bad.place.substr(0, bad.place.find(':')) + ", column " +
                           bad.place.substr(bad.place.find(':') + 1) + ": "));
  CHECK(text.find(bad.right) != std::string::npos);
}

// `text` behind a good first line, so that it starts on line 2.
void check_refused_behind_default(const Bad& bad, const OpenSmOptions& options) {
  check_refused({kDefault + bad.text, bad.place, bad.right}, options);
}

TEST_CASE("what makes OpenSM throw the file away and open the fabric is refused") {
  for (const Bad& bad : {
           Bad{"", "", "no partition is defined"},
           Bad{"\n \t\n# nothing\n", "", "no partition is defined"},
           Bad{"Default=0x7fff ALL=full;\n", "1:1", "no ':'"},
           Bad{"Default=0x7fff,\n ipoib : ALL=full;\n", "1:1", "no ':'"},
           Bad{"Default=0x7fff : ALL=full;\r\n", "1:27", "carriage return"},
           Bad{"\xef\xbb\xbf# a byte order mark\nDefault=0x7fff : ALL=full;\n", "1:1", "no ':'"},
           Bad{"Default=7fff : ALL=full;\n", "1:9", "expected 0x0001 to 0x7fff: write \"0x7fff\""},
           Bad{"Default= : ALL=full;\n", "1:9", "no value after '='"},
           Bad{"Default=0x7fff : ALL=full\n;\n", "2:1", "';' with nothing before it"},
           Bad{"Default=0x7fff : ALL=full;;\n", "1:27", "';' with nothing before it"},
       }) {
    check_refused(bad, kNone);
  }
}

TEST_CASE("a member that is no GUID opens the fabric, or admits another port") {
  for (const Bad& bad : {
           Bad{"a=0x1 : 0002c90300001234=full;\n", "2:9", "write 0x0002c90300001234"},
           Bad{"a=0x1 : 00:02:c9:03:00:00:12:34;\n", "2:9", "expected 0x and 16 hex digits"},
           Bad{"a=0x1 : 0x0=full;\n", "2:9", "16 hex digits"},
           Bad{"a=0x1 : 0x0000000000000000;\n", "2:9", "all zero"},
           Bad{"a=0x1 : 0xffffffffffffffff;\n", "2:9", "all ones"},
           Bad{"a=0x1 : 0xdead;\n", "2:9", "write 0x000000000000dead if that is meant"},
           Bad{"a=0x1 : 0x00002c90300001234;\n", "2:9", "not a port"},
           Bad{"a=0x1 : 1234567890123456;\n", "2:9", "decimal or octal"},  // 0x000462d53c8abac0
           Bad{"a=0x1 : -1;\n", "2:9", "not a port"},                      // all ones
           Bad{"a=0x1 : Storage;\n", "2:9", "not a port"},
           Bad{"a=0x1 : all;\n", "2:9", "not a port"},
           Bad{"a=0x1 : A=full;\n", "2:9", "the start of a word"},  // ALL=full
           Bad{"a=0x1 : ALL_;\n", "2:9", "the start of a word"},    // ALL_CAS
           Bad{"a=0x1 : S;\n", "2:9", "the start of a word"},       // SELF
           Bad{"a=0x1 : N;\n", "2:9", "not a port"},                // NONE
           Bad{"a=0x1 : NONE=full;\n", "2:14", "NONE takes no membership"},
           Bad{"a=0x1 : =full;\n", "2:9", "nothing before '='"},  // no port
           Bad{"a=0x1 : ,ALL;\n", "2:9", "nothing before ','"},
           Bad{"a=0x1 : ALL,,SELF;\n", "2:13", "nothing before ','"},
           // The ';' that is missing: what was meant as the next partition joins this one.
           Bad{"a=0x1 : SELF\nA=0x2 : SELF;\n", "3:1", "the start of a word"},  // ALL into 0x1
           Bad{"a=0x1 : SELF\nb=0x2 : SELF;\n", "3:1", "not a port"},
           Bad{"a=0x1 : SELF", "2:1", "no ';'"},
           Bad{"a=0x1 : SELF # the end of the file is lost\n", "2:1", "no ';'"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
}

TEST_CASE("a membership that OpenSM guesses is refused") {
  for (const Bad& bad : {
           Bad{"a=0x1 : SELF=fulll;\n", "2:14", "expected full, limited or both"},  // limited
           Bad{"a=0x1 : SELF=f;\n", "2:14", "expected full, limited or both"},      // full
           Bad{"a=0x1 : SELF=FULL;\n", "2:14", "expected full, limited or both"},   // limited
           Bad{"a=0x1 : SELF=full=limited;\n", "2:14", "expected full"},            // limited
           Bad{"a=0x1 : SELF= ;\n", "2:14", "no value after '='"},                  // full
           Bad{"a=0x1, defmember : SELF;\n", "2:8", "has no value"},                // limited
           Bad{"a=0x1, defmember= : SELF;\n", "2:18", "no value after '='"},        // full
           Bad{"a=0x1, defmember=l : SELF;\n", "2:18", "expected full"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
  check_refused_behind_default({"a=0x1 : SELF=both;\n", "2:14", "allow_both_pkeys"}, kNone);
  check_refused_behind_default({"a=0x1, defmember=both : SELF;\n", "2:18", "allow_both_pkeys"},
                               kNone);
}

TEST_CASE("a P_Key that OpenSM cuts, invents or shares is refused") {
  for (const Bad& bad : {
           Bad{"a : SELF;\n", "2:1", "has no P_Key"},  // the next free one
           Bad{": SELF;\n", "2:1", "nothing before ':'"},
           Bad{"a=0x0 : SELF;\n", "2:3", "OpenSM would choose one"},
           Bad{"a=0x8000 : SELF;\n", "2:3", "OpenSM would choose one"},
           Bad{"a=0x8001 : SELF;\n", "2:3", "write 0x0001"},
           Bad{"a=0x18005 : SELF;\n", "2:3", "not a P_Key"},  // 0x0005
           Bad{"a=-1 : SELF;\n", "2:3", "not a P_Key"},       // the default partition
           Bad{"a=300 : SELF;\n", "2:3", "ambiguous"},
           Bad{"300 : SELF;\n", "2:1", "ambiguous"},
           Bad{"10G : SELF;\n", "2:1", "not a P_Key"},
           Bad{"a=0x1 : SELF;\nb=0x1 : ALL_CAS;\n", "3:1", "0x0001 is \"a\" as on line 2"},
           Bad{"a=0x1 : SELF;\na=0x1, ipoib : ALL_CAS;\n", "3:1", "mixes the flags"},
           Bad{"a=0x1, sl=3 : SELF;\na=0x1 : ALL_CAS;\n", "3:1", "mixes the flags"},  // sl 0
           Bad{"a=0x1 : SELF;\na=0x1, indx0 : ALL_CAS;\n", "3:1",
               "the one with indx0 must come first"},
           Bad{"a=0x1, indx0 : SELF;\na=0x1 : ALL_SWITCHES;\na=0x1, indx0 : ALL_CAS;\n", "4:1",
               "the one with indx0 must come first"},
           Bad{"Default=0x1 : SELF;\n", "2:1", "Default=0x7fff"},
           Bad{"management=0x7fff : SELF;\n", "2:1", "Default=0x7fff"},
           Bad{"a2345678901234567890123456789012=0x1 : SELF;\n", "2:1", "32 bytes"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
  check_refused({"a=0x1, indx0 : ALL;\nDefault=0x7fff, indx0 : ALL=full;\n", "2:1",
                 "would take index 0 from it"},
                kAll);
  check_refused({"Default=0x7fff, indx0 : ALL;\nDefault=0x7fff : SELF=full;\n", "2:1",
                 "Default must have it in all or none"},
                kAll);
  for (const char* both : {"a=0x1, indx0 : 0x0000000000000017=full;\na=0x1 : ALL_CAS=full;\n",
                           "a=0x1, indx0 : ALL_CAS=full;\na=0x1 : 0x0000000000000017=full;\n"})
    check_refused_behind_default(
        {both, "2:1", "contains ALL_CAS: a port in both would lose index 0"}, kAll);
  check_refused({"a=0x1 : ALL=full;\n", "", "no rule for the default partition"}, kAll);
}

TEST_CASE("an entry that another one takes away is refused") {
  for (const Bad& bad : {
           Bad{"a=0x1 : 0x0000000000000017=full, 0x0000000000000017=limited;\n", "2:34",
               "in this partition already: line 2, column 9"},
           Bad{"a=0x1 : 0x0000000000000017;\na=0x1 : 0x0000000000000017;\n", "3:9",
               "line 2, column 9"},
           Bad{"a=0x1 : 0x0000000000000017=full, ALL=limited;\n", "2:34",
               "overrides the entry of line 2, column 9"},
           Bad{"a=0x1 : ALL_CAS=full, ALL;\n", "2:23", "overrides the entry"},
           Bad{"a=0x1 : SELF=full, ALL_SWITCHES;\n", "2:20", "overrides the entry"},
           Bad{"a=0x1, indx0 : 0x0000000000000017;\nb=0x2, indx0 : 0x0000000000000017;\n", "3:1",
               "0x0002 and 0x0001 both request index 0"},
           Bad{"a=0x1, indx0 : ALL;\nb=0x2, indx0 : 0x0000000000000017;\n", "3:1",
               "both request index 0"},
           Bad{"a=0x1, indx0 : 0x0000000000000017;\nb=0x2, indx0 : SELF;\n", "3:1",
               "both request index 0"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
}

TEST_CASE("a flag that OpenSM ignores, or takes for another, is refused") {
  for (const Bad& bad : {
           Bad{"a=0x1, i : SELF;\n", "2:8", "not a flag here"},       // ipoib
           Bad{"a=0x1, ipiob : SELF;\n", "2:8", "not a flag here"},   // nothing
           Bad{"a=0x1, index0 : SELF;\n", "2:8", "not a flag here"},  // nothing
           Bad{"a=0x1, ipoib=no : SELF;\n", "2:14", "takes no value"},
           Bad{"a=0x1, ipoib, ipoib : SELF;\n", "2:15", "twice"},
           Bad{"a=0x1, mtu=4, mtu=5 : SELF;\n", "2:15", "twice"},
           Bad{"a=0x1, , ipoib : SELF;\n", "2:8", "nothing before ','"},
           Bad{"a=0x1, =5 : SELF;\n", "2:8", "nothing before '='"},  // mtu=5
           Bad{"a=0x1, : SELF;\n", "2:8", "nothing between ',' and ':'"},
           Bad{"a=0x1, mtu : SELF;\n", "2:8", "expected mtu=..."},
           Bad{"a=0x1, mtu=0 : SELF;\n", "2:12", "expected 1 to 5"},
           Bad{"a=0x1, mtu=2048 : SELF;\n", "2:12", "expected 1 to 5"},
           Bad{"a=0x1, mtu=4x : SELF;\n", "2:12", "expected 1 to 5"},
           Bad{"a=0x1, rate=1 : SELF;\n", "2:13", "expected 2 to 22"},
           Bad{"a=0x1, rate=23 : SELF;\n", "2:13", "expected 2 to 22"},
           Bad{"a=0x1, rate=010 : SELF;\n", "2:13", "octal"},
           Bad{"a=0x1, sl=16 : SELF;\n", "2:11", "expected 0 to 15"},  // 0
           Bad{"a=0x1, sl=-1 : SELF;\n", "2:11", "expected 0 to 15"},
           Bad{"a=0x1, scope=0 : SELF;\n", "2:14", "expected 1 to 15"},
           Bad{"a=0x1, scope=16 : SELF;\n", "2:14", "expected 1 to 15"},
           Bad{"a=0x1, Q_Key=0x100000000 : SELF;\n", "2:14", "expected 0 to 4294967295"},
           Bad{"a=0x1, TClass=256 : SELF;\n", "2:15", "expected 0 to 255"},
           Bad{"a=0x1, FlowLabel=0x100000 : SELF;\n", "2:18", "expected 0 to 1048575"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
  check_refused_behind_default({"a=0x1, sl=3 : SELF;\n", "2:8", "qos TRUE"}, kNone);
}

TEST_CASE("a multicast group that OpenSM would make otherwise, or not at all, is refused") {
  for (const Bad& bad : {
           Bad{"a=0x1 :\n mgid=ff12:401b::16 # sl=3\n SELF;\n", "3:2",
               "without ',' after it"},  // the comment's flag
           Bad{"a=0x1 : mgid=ff12:401b::16;\n", "2:9", "without ',' after it"},
           Bad{"a=0x1 : mgid, SELF;\n", "2:9", "has no value"},  // OpenSM crashes
           Bad{"a=0x1 : mgid=fe80::1,;\n", "2:14", "not a multicast GID"},
           Bad{"a=0x1 : mgid=ff12::1, SELF=full;\n", "2:23",
               "not a flag here"},  // no port is a member
           Bad{"a=0x1 : mgid=ff12::1, ipoib;\n", "2:23", "not a flag here"},
           Bad{"a=0x1 : mgid=ff12:401b:8002::1,;\n", "2:9", "expected 0x8001"},
           Bad{"a=0x1 : mgid=ff12:601b::1, mtu=5;\n", "2:9", "the mtu and the rate"},
           Bad{"a=0x1 : mgid=ff12:601b::1, rate=2;\n", "2:9", "the mtu and the rate"},
           Bad{"a=0x1 :\n mgid=ff12::1,\n mgid=ff15::1,\n SELF;\n", "4:2", "exists already"},
           Bad{"a=0x1, ipoib : mgid=ff12:401b::ffff:ffff,sl=1;\n", "2:16", "exists already"},
       }) {
    check_refused_behind_default(bad, kAll);
  }
}

TEST_CASE("bytes that no editor shows are refused, in comments too") {
  for (const std::string& text : {"# a\0b\n"s, "# \x01\n"s, "# \x7f\n"s, "a=0x1 :\v SELF;\n"s,
                                  "a=0x1 : SELF;\f\n"s, "#\r\n"s})
    check_refused_behind_default({text, "", "line 2, column "}, kAll);
}

TEST_CASE("a refusal can be printed, whatever it quotes") {
  const std::string odd = "a=0x1 : \xc3\xa4\tx;\n";
  const std::string long_word = "a=0x1 : " + std::string(4000, 'y') + ";\n";
  check_refused_behind_default({odd, "2:9", "\"???x\" is not a port"}, kAll);
  check_refused_behind_default({long_word, "2:9", "expected 0x and 16 hex"}, kAll);
  CHECK(read_partitions(long_word, kAll).error().text().size() < 400);
}

TEST_CASE(
    "a line longer than OpenSM's buffer is refused, in a comment too, and one that just fits is "
    "read") {
  const auto line = [](size_t length) { return "#" + std::string(length - 1, 'x'); };
  CHECK(read_partitions_conf(kDefault + line(4094) + "\n", kNone).ok());
  check_refused_behind_default({line(4095) + "\n", "2:4095", "a line of 4095 bytes"}, kNone);
  check_refused_behind_default({line(4095), "2:4095", "a line of 4095 bytes"}, kNone);
}

}  // namespace
}  // namespace ibpod::fabric
