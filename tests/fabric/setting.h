// A number that a test is given by the environment.
#pragma once

#include <cstdlib>

namespace ibpod {

template <class Number>
Number setting(const char* name, Number otherwise) {
  const char* const given = std::getenv(name);
  return given == nullptr ? otherwise : static_cast<Number>(std::atoi(given));
}

}  // namespace ibpod
