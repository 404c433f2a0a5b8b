#include "sm/probe/probe_result.h"

namespace ibpod::sm::probe {

std::string_view name(ProbeFailure why) {
  switch (why) {
    case ProbeFailure::unreachable:
      return "unreachable";
    case ProbeFailure::timeout:
      return "timeout";
    case ProbeFailure::deadline:
      return "deadline";
    case ProbeFailure::refused:
      return "refused";
    case ProbeFailure::not_permitted:
      return "not permitted";
    case ProbeFailure::malformed:
      return "malformed";
    case ProbeFailure::cancelled:
      return "cancelled";
    case ProbeFailure::port_unknown:
      return "port unknown";
    case ProbeFailure::other_port:
      return "other port";
    case ProbeFailure::duplicate_guid:
      return "doubtful";
    case ProbeFailure::changed:
      return "changed";
  }
  return "unknown";
}

std::string ProbeError::text() const {
  std::string text(name(failure));
  if (failure == ProbeFailure::refused) text += ": " + mad::status_text(status);
  return text;
}

ProbeError probe_error(const mad::Failure& failure) {
  switch (failure.reason) {
    case mad::Reason::unreachable:
      return {ProbeFailure::unreachable};
    case mad::Reason::timeout:
      return {ProbeFailure::timeout};
    case mad::Reason::deadline:
      return {ProbeFailure::deadline};
    case mad::Reason::refused:
      return {ProbeFailure::refused, failure.status};
    case mad::Reason::not_permitted:
      return {ProbeFailure::not_permitted};
    case mad::Reason::malformed:
      return {ProbeFailure::malformed};
    case mad::Reason::cancelled:
      return {ProbeFailure::cancelled};
  }
  return {ProbeFailure::malformed};
}

}  // namespace ibpod::sm::probe
