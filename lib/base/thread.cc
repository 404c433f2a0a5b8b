#include "lib/base/thread.h"

#include <system_error>
#include <thread>

namespace ibpod {

Status run_on_thread(const std::function<Status()>& work) {
  Status result = ok();
  try {
    std::thread([&] { result = work(); }).join();
  } catch (const std::system_error& refused) {
    return Error::from_errno(refused.code().value(), "start a thread");
  }
  return result;
}

}  // namespace ibpod
