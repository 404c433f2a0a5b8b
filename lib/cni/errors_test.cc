#include "lib/cni/errors.h"

#include <cerrno>

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

TEST_CASE("an error's code decides its number, unless it is reported as another") {
  const struct {
    Code code;
    int number;
  } table[] = {{Code::invalid, 7},      {Code::unsupported, 104}, {Code::busy, 11},
               {Code::unavailable, 11}, {Code::not_found, 101},   {Code::exists, 102},
               {Code::denied, 103},     {Code::internal, 100}};
  for (const auto& [code, number] : table) {
    CHECK(failure_of(Error(code, "text").with_details("more")) == Failure{number, "text", "more"});
    CHECK(failure_of(Error(code, "text").reported_as(kIpamFailed)).code == 105);
    CHECK(failure_of(Error(code, "text").reported_as(kIpamFailed), kUnknownContainer).code == 3);
  }
}

TEST_CASE("a failing disk or file system is an I/O failure") {
  for (const int error : {EIO, ENOSPC, EROFS, EDQUOT}) {
    CHECK(failure_of(Error::from_errno(error, "write").during("save")).code == 5);
  }
  CHECK(failure_of(Error::from_errno(ENOMEM, "write")).code == 100);
  CHECK(failure_of(Error::from_errno(EBUSY, "write")).code == 11);
}

TEST_CASE("an error is printed as the specification wants it; details only where there are some") {
  CHECK(Failure{7, "no \"name\"", ""}.to_json("0.4.0").text() ==
        R"({"cniVersion":"0.4.0","code":7,"msg":"no \"name\""})");
  CHECK(Failure{11, "m", "line 1\nline 2"}.to_json("1.1.0").text() ==
        R"({"cniVersion":"1.1.0","code":11,"msg":"m","details":"line 1\nline 2"})");
}

}  // namespace
}  // namespace ibpod::cni
