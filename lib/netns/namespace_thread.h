// NamespaceThread: a thread that has entered a network namespace, and works there for its owner.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <functional>
#include <thread>

#include <semaphore.h>

namespace ibpod::netns {

// Sockets and mounts belong to the namespace of the thread that opens them, and only a thread can
// enter one. This thread starts with the first work and stays until its owner ends, so that many
// pieces of work cost one start. It keeps the namespace alive. For one caller at a time.
class NamespaceThread {
 public:
  // `netns` has to outlive it.
  explicit NamespaceThread(const Fd& netns);
  ~NamespaceThread();
  NamespaceThread(const NamespaceThread&) = delete;
  NamespaceThread& operator=(const NamespaceThread&) = delete;

  // Runs `work` in the namespace and waits for it. The error is that of the work, or says that the
  // thread cannot be started or cannot enter the namespace (setns(2): CAP_SYS_ADMIN). `work` throws
  // nothing.
  Status run(const std::function<Status()>& work);

 private:
  void serve();
  Status enter();

  const Fd& netns_;
  // Not a mutex with a condition: that takes half as many calls again.
  sem_t has_work_{}, is_done_{};
  const std::function<Status()>* work_ = nullptr;  // nullptr behind has_work_: the end
  Status result_ = ok();
  bool entered_ = false;
  std::thread thread_;
};

}  // namespace ibpod::netns
