#include "lib/base/result.h"

#include <cerrno>
#include <memory>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(Code::invalid, std::to_string(number) + " is odd");
  return number / 2;
}

Result<int> quarter(int number) {
  const int halved = TRY(half(number).during("first half"));
  return half(halved).during("second half");
}

TEST_CASE("TRY hands out the value, or returns the error with its steps") {
  CHECK(quarter(8).value() == 2);
  CHECK(quarter(7).error().text() == "first half: 7 is odd");
  CHECK(quarter(6).error().text() == "second half: 3 is odd");
}

TEST_CASE("TRY moves values that cannot be copied") {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); };
  const auto take = [&]() -> Result<int> {
    const std::unique_ptr<int> made = TRY(make());
    return *made;
  };
  CHECK(*take() == 3);
}

TEST_CASE("an errno becomes a code, and is kept through steps, details and numbers") {
  const struct {
    int number;
    Code code;
  } table[] = {
      {EINVAL, Code::invalid}, {ENODEV, Code::not_found},   {EEXIST, Code::exists},
      {EBUSY, Code::busy},     {ETXTBSY, Code::busy},       {EOPNOTSUPP, Code::unsupported},
      {EACCES, Code::denied},  {EAGAIN, Code::unavailable}, {ETIMEDOUT, Code::unavailable},
      {EIO, Code::internal},   {ENOSPC, Code::internal},    {EPERM, Code::denied}};
  for (const auto& row : table) {
    const auto& [number, code] = row;
    CAPTURE(row.number);
    const Error error =
        Error::from_errno(number, "open x").during("attach").with_details("d").reported_as(11);
    CHECK(error.code() == code);
    CHECK(error.error_number() == number);
    CHECK(error.details() == "d");
    CHECK(error.reported() == 11);
    CHECK(error.text().starts_with("attach: open x: "));
  }
}

TEST_CASE("errors of a clean-up are all kept, under the first one's code and number") {
  Errors errors;
  errors.collect(ok(), "fine");
  CHECK(errors.empty());
  CHECK(errors.status());
  errors.collect(Error(Code::busy, "one").with_details("a").reported_as(105), "step 1");
  errors.collect(Error(Code::denied, "two"));
  errors.add(Error(Code::invalid, "three").with_details("c"));
  const Status status = errors.status();
  CHECK(status.error().code() == Code::busy);
  CHECK(status.error().reported() == 105);
  CHECK(status.error().text() == "step 1: one; two; three");
  CHECK(status.error().details() == "a\nc");
}

TEST_CASE("an errno is not lost among the errors of a clean-up, nor behind another failure") {
  Errors errors;
  errors.collect(Error::from_errno(ENOSPC, "write"), "step 1");
  errors.collect(Error(Code::denied, "two"));
  CHECK(errors.status().error().error_number() == ENOSPC);
  const Error both = Error::from_errno(EROFS, "write").reported_as(5).also(Error(Code::busy, "b"));
  CHECK(both.text() == "write: Read-only file system; b");
  CHECK(both.error_number() == EROFS);
  CHECK(both.reported() == 5);
  CHECK(both.code() == Code::internal);
}

TEST_CASE("every code has a name") {
  for (const Code code : {Code::invalid, Code::not_found, Code::exists, Code::busy,
                          Code::unsupported, Code::denied, Code::unavailable, Code::internal}) {
    CHECK_FALSE(name(code).empty());
  }
}

}  // namespace
}  // namespace ibpod
