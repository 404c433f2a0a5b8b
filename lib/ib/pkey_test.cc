#include "lib/ib/pkey.h"

#include "lib/ib/hex.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

TEST_CASE("a P_Key is read with its base") {
  CHECK(PKey::parse("0x1").value() == PKey(1));
  CHECK(PKey::parse("0x0001").value() == PKey(1));
  CHECK(PKey::parse("0X8001").value() == PKey(0x8001));
  CHECK(PKey::parse("0xFfFf").value() == kDefaultFull);
  CHECK(PKey::parse("6").value() == PKey(6));
  CHECK(PKey(0x8001).text() == "0x8001");
  CHECK(PKey(1).text() == "0x0001");
}

TEST_CASE("digits without a base are refused with every reading that makes a P_Key") {
  const struct {
    const char* text;
    const char* message;
  } table[] = {
      {"1000", "\"1000\" is ambiguous: write \"0x1000\" for hexadecimal or \"0x03e8\" for decimal"},
      {"8001", "\"8001\" is ambiguous: write \"0x8001\" for hexadecimal or \"0x1f41\" for decimal"},
      {"0006", "\"0006\" has no base: write \"0x0006\""},
      {"8000", "\"8000\" is ambiguous: write \"0x1f40\" for decimal"},
      {"32769", "\"32769\" is ambiguous: write \"0x8001\" for decimal"},
      {"65536", "\"65536\" is not a P_Key: expected 0x0001 to 0xffff, such as \"0x8001\""},
      {"99999999999999999999",
       "\"99999999999999999999\" is not a P_Key: expected 0x0001 to 0xffff, "
       "such as \"0x8001\""},
  };
  for (const auto& [text, message] : table) {
    const auto parsed = PKey::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Code::invalid);
    CHECK(parsed.error().text() == message);
  }
}

TEST_CASE("a partition's key has no bit 15, and one that is given is not the default's") {
  CHECK(PKey::parse_partition("0x7fff").value() == PKey(0x7fff));
  CHECK(PKey::parse_tenant("0x7ffe").value() == PKey(0x7ffe));
  for (const auto& parse : {PKey::parse_partition, PKey::parse_tenant}) {
    for (const char* text : {"0x0", "0", "0x8000", "0xffff", "8000"}) {
      CAPTURE(text);
      CHECK_FALSE(parse(text));
    }
    CHECK(parse("0x8001").error().text() ==
          "0x8001 has bit 15 set (membership full): write \"0x0001\"");
    CHECK(parse("8001").error().text() ==
          "\"8001\" is ambiguous: write \"0x0001\" for hexadecimal or \"0x1f41\" for decimal");
  }
  CHECK(PKey::parse_partition("32767").error().text() ==
        "\"32767\" is ambiguous: write \"0x7fff\" for decimal");
  CHECK(PKey::parse_tenant("32767").error().text() ==
        "\"32767\" is not a P_Key: expected 0x0001 to 0x7ffe, such as \"0x0001\"");
  CHECK_FALSE(PKey::parse_tenant("0x7fff"));
}

// The quoted texts that a refusal suggests.
std::vector<std::string> advised(const std::string& refusal) {
  std::vector<std::string> all;
  for (const char* const mark : {"write \"", "such as \"", " or \""}) {
    const size_t length = std::string_view(mark).size();
    for (size_t at = refusal.find(mark); at != refusal.npos; at = refusal.find(mark, at + 1))
      all.push_back(refusal.substr(at + length, refusal.find('"', at + length) - at - length));
  }
  return all;
}

TEST_CASE("what a refusal says to write is read, and no text is refused without that") {
  using Parse = Result<PKey> (*)(std::string_view);
  for (const Parse parse :
       {Parse(PKey::parse), Parse(PKey::parse_partition), Parse(PKey::parse_tenant)}) {
    const auto check = [&](const std::string& text) {
      const auto read = parse(text);
      // The two that say what is meant, and not what else could be.
      if (read || text == "0xffff" || text == "0x7fff") return;
      const std::string refusal = read.error().text();
      CAPTURE(refusal);
      for (const std::string& advice : advised(refusal)) CHECK(parse(advice));
      const bool is_free = refusal.find("free entries") != refusal.npos;
      CHECK(advised(refusal).empty() == is_free);
    };
    for (int number = 0; number <= 0x10001; number += number < 300 ? 1 : 97) {
      check(std::to_string(number));
      check("0x" + hex(static_cast<uint64_t>(number), 4));
      check(hex(static_cast<uint64_t>(number), 4));
    }
    for (const char* text : {"", "x", "7fff", "ffff", "abcd", "32767", "32768", "65535", "8000",
                             "0x18005", "-1", "99999999999999999999", "0X8001", "00", "08"})
      check(text);
  }
}

TEST_CASE("what is no P_Key is refused") {
  for (const char* text :
       {"", "0x", "0x10000", "0x00001", "x1", "abcd", "0x1g", "0x-1", " 0x1", "0x1 "}) {
    CAPTURE(text);
    CHECK(PKey::parse(text).error().code() == Code::invalid);
  }
}

TEST_CASE("a number is a P_Key from 0 to 65535") {
  CHECK(PKey::from_number(0x8001).value() == PKey(0x8001));
  CHECK(PKey::from_number(65535).value() == kDefaultFull);
  CHECK_FALSE(PKey::from_number(-1));
  CHECK_FALSE(PKey::from_number(65536));
}

TEST_CASE("bit 15 is the membership, the rest the partition") {
  CHECK(PKey(0x8001).membership() == Membership::full);
  CHECK(PKey(0x0001).membership() == Membership::limited);
  CHECK(PKey(0x8001).same_partition(PKey(0x0001)));
  CHECK_FALSE(PKey(0x8001).same_partition(PKey(0x8002)));
  CHECK(name(Membership::full) == "full");
  CHECK(name(Membership::limited) == "limited");
}

TEST_CASE("a port can have the default partition's key, and no tenant gets it") {
  CHECK(check_member(PKey(0x7fff)));
  CHECK(check_member(PKey(0xffff)));
  CHECK_FALSE(check_member(PKey(0)));
  CHECK_FALSE(check_member(PKey(0x8000)));
}

TEST_CASE("neither no partition nor the default one is for tenants") {
  for (const int value : {0x0000, 0x8000, 0x7fff, 0xffff}) {
    CHECK(check_tenant(PKey(static_cast<uint16_t>(value))).error().code() == Code::invalid);
  }
  for (const int value : {0x0001, 0x8001, 0x7ffe, 0xfffe}) {
    CHECK(check_tenant(PKey(static_cast<uint16_t>(value))));
  }
}

TEST_CASE("full membership is found where it is asked for, and preferred where it is not") {
  const PKeyTable table{PKey(0x0001), PKey(0xffff), PKey(0), PKey(0x8001), PKey(0x0002)};
  CHECK(find_in(table, PKey(0x8001)) == 3);
  CHECK(find_in(table, PKey(0x0001)) == 3);
  CHECK(find_in(table, PKey(0x0002)) == 4);
  CHECK(find_in(table, PKey(0x8002)) == std::nullopt);
  CHECK(find_in(table, PKey(0x8003)) == std::nullopt);
  CHECK(text(table) == "0:0x0001 1:0xffff 3:0x8001 4:0x0002");
  CHECK(text(PKeyTable{PKey(0), PKey(0x8000)}) == "empty");
}

}  // namespace
}  // namespace ibpod::ib
