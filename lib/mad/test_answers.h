// Recorded answers of nodes: ibsim 0.10 with OpenSM 3.3.23 on it, a subnet of two switches and
// eight hosts, as they came out of libibumad. The tests expect the values that smpquery and sminfo
// 44.0 read in the same answers. They are the fuzz target's corpus, too.
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
