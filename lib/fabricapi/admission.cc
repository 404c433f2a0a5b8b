#include "lib/fabricapi/admission.h"

#include "lib/fabricapi/fields.h"

namespace ibpod::fabricapi {

Result<Admitted> Admission::admit(const rpc::Peer& peer, const std::string& fabric,
                                  Places& places) const {
  Admitted admitted;
  admitted.caller = TRY(identify_(peer));
  const std::string meant = fabric.empty() ? "default" : fabric;
  if (meant != fabric_)
    return Error(Code::not_found,
                 wrong("fabric", meant, "\"" + fabric_ + "\", the one served here").text());
  admitted.place = TRY(places.take(admitted.caller.name));
  return admitted;
}

}  // namespace ibpod::fabricapi
