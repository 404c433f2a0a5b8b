// Result<T>: a value, or the Error that explains why there is none. Nothing here throws; a Result
// that is dropped is a compiler warning.
#pragma once

#include <cassert>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod {

// The kind of a failure. Callers may decide by the Code, never by the text.
enum class Code {
  invalid,      // the input can never work; the text says what would
  not_found,    // what was named does not exist
  exists,       // what was to be made exists already
  busy,         // in use by another process or owner; a retry may succeed
  unsupported,  // this kernel, driver or version cannot do it
  denied,       // not permitted
  unavailable,  // not ready within the deadline; a retry may succeed
  internal,     // anything else: I/O, a refusal of the kernel, a damaged file
};

std::string_view name(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string text) : code_(code), text_(std::move(text)) {}

  // A failed system call or kernel request. `error` is a positive errno; the text becomes "WHAT:
  // Operation not permitted", and the code follows from the number.
  static Error from_errno(int error, std::string_view what);

  Code code() const { return code_; }
  // The errno, or 0.
  int error_number() const { return errno_; }
  const std::string& text() const { return text_; }
  // More for the person who repairs it (state, tables). The text is complete without it.
  const std::string& details() const { return details_; }
  // The number that the program reports to its caller (a CNI error code), if the failed step
  // decides it; 0: the code decides.
  int reported() const { return reported_; }

  // Prepends the step: "STEP: text".
  Error during(std::string_view step) &&;
  // Appends another failure: "text; other". Number and code stay the same.
  Error also(const Error& other) &&;
  Error with_details(std::string details) &&;
  Error reported_as(int number) &&;
  // The same failure with another code.
  Error as(Code code) &&;

 private:
  Code code_;
  int errno_ = 0;
  int reported_ = 0;
  std::string text_;
  std::string details_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): so that a function can return a value or an Error.
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return require(), *value_; }
  T& value() & { return require(), *value_; }
  // By value: what a loop or a reference takes from a temporary Result lives on.
  T value() && { return require(), std::move(*value_); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  // Only where !ok().
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

  Result during(std::string_view step) && {
    if (!ok()) error_ = std::move(*error_).during(step);
    return std::move(*this);
  }
  Result reported_as(int number) && {
    if (!ok()) error_ = std::move(*error_).reported_as(number);
    return std::move(*this);
  }

 private:
  // A missing value is a bug of the caller and aborts, in release builds too.
  void require() const {
    if (!value_) std::abort();
  }
  std::optional<T> value_;
  std::optional<Error> error_;
};

struct Unit {
  bool operator==(const Unit&) const = default;
};
using Status = Result<Unit>;
inline Status ok() { return Unit{}; }

// Collects the failures of a cleanup that continues after each of them.
class Errors {
 public:
  void add(Error error) { errors_.push_back(std::move(error)); }
  // Keeps the failure of a step; a success is ignored.
  void collect(Status status, std::string_view step = {});
  bool empty() const { return errors_.empty(); }
  // Success if there are none; else the first one, with the texts of all.
  Status status() const;

 private:
  std::vector<Error> errors_;
};

}  // namespace ibpod

// Unwraps a Result or returns its error from the enclosing function. It is a whole statement or a
// whole initialiser, one a line: inside a braced initialiser compilers skip destructors of what was
// built before it. (A lambda in the expression may use it too: every use has a name of its own.)
#define TRY(expression) IBPOD_TRY(expression, __COUNTER__)
#define IBPOD_TRY(expression, number) IBPOD_TRY_NAMED(expression, number)
#define IBPOD_TRY_NAMED(expression, number)                                       \
  __extension__({                                                                 \
    auto try_result_##number = (expression);                                      \
    if (!try_result_##number.ok()) return std::move(try_result_##number).error(); \
    std::move(try_result_##number).value();                                       \
  })
