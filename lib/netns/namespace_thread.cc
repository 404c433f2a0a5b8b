#include "lib/netns/namespace_thread.h"

#include <cerrno>
#include <system_error>

#include <sched.h>

namespace ibpod::netns {
namespace {

void wait(sem_t& semaphore) {
  while (::sem_wait(&semaphore) != 0 && errno == EINTR) {
  }
}

}  // namespace

NamespaceThread::NamespaceThread(const Fd& netns) : netns_(netns) {
  ::sem_init(&has_work_, 0, 0);
  ::sem_init(&is_done_, 0, 0);
}

NamespaceThread::~NamespaceThread() {
  if (thread_.joinable()) {
    work_ = nullptr;
    ::sem_post(&has_work_);
    thread_.join();
  }
  ::sem_destroy(&has_work_);
  ::sem_destroy(&is_done_);
}

Status NamespaceThread::run(const std::function<Status()>& work) {
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& refused) {
    return Error::from_errno(refused.code().value(), "start a thread");
  }
  work_ = &work;
  ::sem_post(&has_work_);
  wait(is_done_);
  return std::move(result_);
}

Status NamespaceThread::enter() {
  if (!entered_)
    TRY(sys("enter a network namespace: setns",
            [&] { return ::setns(netns_.get(), CLONE_NEWNET); }));
  entered_ = true;
  return ok();
}

void NamespaceThread::serve() {
  for (wait(has_work_); work_ != nullptr; wait(has_work_)) {
    result_ = enter();
    if (result_) result_ = (*work_)();
    ::sem_post(&is_done_);
  }
}

}  // namespace ibpod::netns
