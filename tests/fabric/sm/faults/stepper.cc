#include "tests/fabric/sm/faults/stepper.h"

#include "lib/base/fd.h"

#include <new>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>

namespace ibpod {

Stepper::Stepper(const Path& file, const Path& folder)
    : environment_{{Steps::kFile, file.native()},
                   {Steps::kFolder, folder.native() + "/"},
                   {"LD_PRELOAD", IBPOD_SM_STEPS}} {
  const Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(fd.valid());
  REQUIRE(::ftruncate(fd.get(), sizeof(Steps)) == 0);
  void* const at = ::mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  REQUIRE(at != MAP_FAILED);
  steps_ = new (at) Steps;
}

Stepper::~Stepper() { ::munmap(steps_, sizeof(Steps)); }

void Stepper::arm(int64_t steps, bool torn) {
  steps_->last.front() = '\0';
  steps_->taken = 0;
  steps_->torn = torn;
  steps_->left = steps;
}

int64_t Stepper::disarm() {
  steps_->left = -1;
  return steps_->taken;
}

}  // namespace ibpod
