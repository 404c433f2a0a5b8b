#include "lib/fabric/membership.h"

namespace ibpod::fabric {

std::string_view name(Membership membership) {
  switch (membership) {
    case Membership::limited:
      return "limited";
    case Membership::full:
      return "full";
    case Membership::both:
      return "both";
  }
  return "limited";
}

std::optional<Membership> parse_membership(std::string_view text) {
  for (const Membership membership : {Membership::limited, Membership::full, Membership::both}) {
    if (text == name(membership)) return membership;
  }
  return std::nullopt;
}

}  // namespace ibpod::fabric
