#include "lib/cni/errors.h"

#include <cerrno>

namespace ibpod::cni {
namespace {

bool is_io_failure(int error_number) {
  switch (error_number) {
    case EIO:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
      return true;
    default:
      return false;
  }
}

int number_of(const Error& error) {
  switch (error.code()) {
    case Code::invalid:
      return kInvalidConfiguration;
    case Code::not_found:
      return kDeviceMissing;
    case Code::exists:
      return kInterfaceExists;
    case Code::busy:
    case Code::unavailable:
      return kTryAgainLater;
    case Code::unsupported:
      return kKernelUnsupported;
    case Code::denied:
      return kDenied;
    case Code::internal:
      return is_io_failure(error.error_number()) ? kIoFailure : kInternal;
  }
  std::abort();
}

}  // namespace

json::Value Failure::to_json(const std::string& cni_version) const {
  json::Value document = json::Value::object();
  document.set("cniVersion", cni_version).set("code", code).set("msg", message);
  if (!details.empty()) document.set("details", details);
  return document;
}

Failure failure_of(const Error& error) {
  return failure_of(error, error.reported() != 0 ? error.reported() : number_of(error));
}

Failure failure_of(const Error& error, int code) {
  return Failure{code, error.text(), error.details()};
}

}  // namespace ibpod::cni
