#include "lib/base/result.h"

#include "lib/base/join.h"

#include <cerrno>
#include <system_error>

namespace ibpod {
namespace {

Code code_of(int error) {
  switch (error) {
    case EINVAL:
    case ENAMETOOLONG:
      return Code::invalid;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ESRCH:
      return Code::not_found;
    case EEXIST:
      return Code::exists;
    case EBUSY:
    case ETXTBSY:  // a program that is being replaced
      return Code::busy;
    case EOPNOTSUPP:
    case ENOSYS:
    case EAFNOSUPPORT:
      return Code::unsupported;
    case EPERM:
    case EACCES:
      return Code::denied;
    case EAGAIN:
    case ETIMEDOUT:
      return Code::unavailable;
    default:
      return Code::internal;
  }
}

}  // namespace

std::string_view name(Code code) {
  switch (code) {
    case Code::invalid:
      return "invalid";
    case Code::not_found:
      return "not found";
    case Code::exists:
      return "exists";
    case Code::busy:
      return "busy";
    case Code::unsupported:
      return "unsupported";
    case Code::denied:
      return "denied";
    case Code::unavailable:
      return "unavailable";
    case Code::internal:
      return "internal";
  }
  std::abort();
}

Error Error::from_errno(int error, std::string_view what) {
  // generic_category() is thread-safe where strerror() is not.
  Error made(code_of(error), std::string(what) + ": " + std::generic_category().message(error));
  made.errno_ = error;
  return made;
}

Error Error::during(std::string_view step) && {
  text_ = std::string(step) + ": " + text_;
  return std::move(*this);
}

Error Error::also(const Error& other) && {
  text_ += "; " + other.text_;
  if (!other.details_.empty()) add_item(details_, "\n", other.details_);
  return std::move(*this);
}

Error Error::with_details(std::string details) && {
  details_ = std::move(details);
  return std::move(*this);
}

Error Error::reported_as(int number) && {
  reported_ = number;
  return std::move(*this);
}

Error Error::as(Code code) && {
  code_ = code;
  return std::move(*this);
}

void Errors::collect(Status status, std::string_view step) {
  if (status) return;
  Error error = std::move(status).error();
  add(step.empty() ? std::move(error) : std::move(error).during(step));
}

Status Errors::status() const {
  if (errors_.empty()) return ok();
  Error all = errors_.front();
  for (size_t i = 1; i < errors_.size(); ++i) all = std::move(all).also(errors_[i]);
  return all;
}

}  // namespace ibpod
