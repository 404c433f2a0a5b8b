#include "sm/probe/probe_result.h"

namespace ibpod::sm {

std::string_view name(Unread why) {
  switch (why) {
    case Unread::unreachable:
      return "unreachable";
    case Unread::timeout:
      return "timeout";
    case Unread::deadline:
      return "deadline";
    case Unread::refused:
      return "refused";
    case Unread::not_permitted:
      return "not permitted";
    case Unread::malformed:
      return "malformed";
    case Unread::cancelled:
      return "cancelled";
    case Unread::port_unknown:
      return "port unknown";
    case Unread::other_port:
      return "other port";
    case Unread::doubtful:
      return "doubtful";
    case Unread::changed:
      return "changed";
  }
  return "unknown";
}

std::string NotRead::text() const {
  std::string text(name(why));
  if (why == Unread::refused) text += ": " + mad::status_text(status);
  return text;
}

NotRead not_read(const mad::Failure& failure) {
  switch (failure.reason) {
    case mad::Reason::unreachable:
      return {Unread::unreachable};
    case mad::Reason::timeout:
      return {Unread::timeout};
    case mad::Reason::deadline:
      return {Unread::deadline};
    case mad::Reason::refused:
      return {Unread::refused, failure.status};
    case mad::Reason::not_permitted:
      return {Unread::not_permitted};
    case mad::Reason::malformed:
      return {Unread::malformed};
    case mad::Reason::cancelled:
      return {Unread::cancelled};
  }
  return {Unread::malformed};
}

}  // namespace ibpod::sm
