#include "lib/fabricapi/call_gate.h"

#include "lib/fabricapi/account.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::fabricapi {

Result<Admitted> Admission::admit(const rpc::Peer& peer, const std::string& fabric, Places& places,
                                  Places::Share share) const {
  Admitted admitted;
  admitted.caller = TRY(identify_(peer));
  const std::string meant = fabric.empty() ? "default" : fabric;
  if (meant != fabric_)
    return Error(Code::not_found,
                 wrong("fabric", meant, "\"" + fabric_ + "\", the one served here").text());
  if (admitted.caller.role == Role::administrator) share = Places::Share::reserved;
  admitted.place = TRY(places.take(account_of(admitted.caller), share));
  return admitted;
}

}  // namespace ibpod::fabricapi
