// CNI errors: the specification's codes, and ours (CNI specification 1.1.0, section "Error").
#pragma once

#include "lib/base/result.h"
#include "lib/json/value.h"

#include <string>

namespace ibpod::cni {

enum ErrorCode : int {
  kIncompatibleVersion = 1,
  kUnsupportedField = 2,
  kUnknownContainer = 3,
  kInvalidEnvironment = 4,
  kIoFailure = 5,
  kUndecodable = 6,
  kInvalidConfiguration = 7,
  kTryAgainLater = 11,
  kNotAvailable = 50,
  kLimitedConnectivity = 51,
  // Ours; docs/configuration.md lists them.
  kInternal = 100,
  kDeviceMissing = 101,
  kInterfaceExists = 102,
  kDenied = 103,
  kKernelUnsupported = 104,
  kIpamFailed = 105,
  kCheckFailed = 106,
};

// An error as a runtime sees it.
struct Failure {
  int code = kInternal;
  std::string message;
  std::string details;
  bool operator==(const Failure&) const = default;

  // As the plugin prints it on stdout.
  json::Value to_json(const std::string& cni_version) const;
};

// The number that the error itself is to be reported as (Error::reported), if it has one. Else by
// its code: invalid 7, busy and unavailable 11 (try again later), not_found 101, exists 102,
// denied 103, unsupported 104, internal 5 for a failing disk or file system and 100 for all else.
Failure failure_of(const Error& error);
// For errors whose place decides the number, whatever they say themselves.
Failure failure_of(const Error& error, int code);

}  // namespace ibpod::cni
