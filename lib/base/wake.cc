#include "lib/base/wake.h"

#include <sys/eventfd.h>

namespace ibpod {

Result<Wake> Wake::open() {
  Fd fd(TRY(sys("eventfd", [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })));
  return Wake(std::move(fd));
}

void Wake::ring() const {
  // It can fail only when the counter is full, and then it has been rung.
  (void)!::eventfd_write(fd_.get(), 1);
}

void Wake::drain() const {
  eventfd_t rings = 0;
  (void)!::eventfd_read(fd_.get(), &rings);  // nothing to take is fine
}

}  // namespace ibpod
