#include "lib/fabric/membership.h"

namespace ibpod::fabric {

Words<Membership> words_of(Membership) {
  return {{"limited", Membership::limited}, {"full", Membership::full}, {"both", Membership::both}};
}

std::string_view name(Membership membership) { return word_of(words_of(membership), membership); }

std::optional<Membership> parse_membership(std::string_view text) {
  return find_word(words_of(Membership()), text);
}

}  // namespace ibpod::fabric
