// Cases that could not be run here.
#pragma once

#include <string>

namespace ibpod {

// Why; empty: all were run. The program ends as skipped then, unless another case has failed.
inline std::string& skipped() {
  static std::string why;
  return why;
}

}  // namespace ibpod
