#include "lib/https/failure.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::https {
namespace {

TEST_CASE("the status of an answer decides the code of the failure") {
  struct Row {
    int status;
    std::optional<Code> code;
  };
  for (const Row& row : std::vector<Row>{{200, {}},
                                         {201, {}},
                                         {202, {}},
                                         {204, {}},
                                         {206, Code::unavailable},
                                         {301, Code::unavailable},
                                         {302, Code::unavailable},
                                         {304, Code::unavailable},
                                         {400, Code::invalid},
                                         {401, Code::denied},
                                         {403, Code::denied},
                                         {404, Code::invalid},
                                         {408, Code::unavailable},
                                         {409, Code::invalid},
                                         {429, Code::unavailable},
                                         {500, Code::unavailable},
                                         {503, Code::unavailable},
                                         {599, Code::unavailable},
                                         {999, Code::unavailable},
                                         {0, Code::unavailable}}) {
    CAPTURE(row.status);
    const auto failure = failure_of({row.status});
    CHECK((failure ? std::optional(failure->code()) : std::nullopt) == row.code);
  }
  CHECK(is_not_found({404}));
  CHECK(is_not_found({405}));
  CHECK_FALSE(is_not_found({400}));
  CHECK_FALSE(is_not_found({200}));
}

TEST_CASE("a failure has the server's words, at most 200 bytes of them and printable") {
  const auto text = [](int status, const std::string& body) {
    return failure_of({status, body})->text();
  };
  CHECK(text(400, "PKey 0x5 is invalid\n") == "answered 400: PKey 0x5 is invalid?");
  CHECK(text(503, "") == "answered 503");
  CHECK(text(502, "<html><h1>Bad Gateway</h1>") == "answered 502 with HTML");
  CHECK(text(302, "Moved") == "answered 302: a redirect, which is not followed");
  CHECK(text(400, std::string(5'000, 'x')) == "answered 400: " + std::string(197, 'x') + "...");
  CHECK(text(400, "a\x1b[2J\xff") == "answered 400: a?[2J?");
}

}  // namespace
}  // namespace ibpod::https
