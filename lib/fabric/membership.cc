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

Words<Membership> words_of(Membership) {
  return {{"limited", Membership::limited}, {"full", Membership::full}, {"both", Membership::both}};
}

std::optional<Membership> parse_membership(std::string_view text) {
  return find_word(words_of(Membership()), text);
}

}  // namespace ibpod::fabric
