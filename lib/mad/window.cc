#include "lib/mad/window.h"

#include <algorithm>

namespace ibpod::mad {

Window::Window(size_t most) : most_(std::max<size_t>(most, 1)), size_(most_) {}

void Window::answered() {
  if (size_ == most_ || ++answers_ < size_) return;
  ++size_;
  answers_ = 0;
}

void Window::lost(Time sent, Time now) {
  if (sent < halved_) return;
  size_ = std::max<size_t>(size_ / 2, 1);
  answers_ = 0;
  halved_ = now;
}

}  // namespace ibpod::mad
