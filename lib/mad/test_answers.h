// What nodes were heard to answer: ibsim 0.10 with OpenSM 3.3.23 on it, a subnet of two switches
// and eight hosts, recorded as it came out of libibumad. What smpquery and sminfo 44.0 read in the
// same answers is what the tests expect. They are the fuzz target's corpus, too.
#pragma once

#include "lib/base/files.h"
#include "lib/mad/smp.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace ibpod::mad {

// Tests run in the root of the sources.
inline Mad recorded_mad(const std::string& name) {
  const Result<std::string> content = read_file(Path("tests/data/fuzz/smp") / name);
  Mad mad{};
  if (!content || content->size() != mad.size()) std::abort();
  std::memcpy(mad.data(), content->data(), mad.size());
  return mad;
}

inline SmpResponse recorded_answer(const std::string& name) {
  return parse_response(recorded_mad(name)).value();
}

}  // namespace ibpod::mad
