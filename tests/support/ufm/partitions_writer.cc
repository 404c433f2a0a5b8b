#include "tests/support/ufm/partitions_writer.h"

#include "tests/support/ufm/partitions_text.h"

#include <csignal>
#include <cstdlib>

namespace ibpod::fake_ufm {
namespace {

Status hang_up(const Path& pid_file) {
  if (pid_file.empty() || !path_exists(pid_file)) return ok();
  const std::string text = TRY(read_file(pid_file));
  const pid_t pid = std::atoi(text.c_str());
  if (pid <= 1) return Error(Code::invalid, pid_file.string() + ": expected a process ID");
  TRY(sys("SIGHUP to OpenSM", [&] { return ::kill(pid, SIGHUP); }));
  return ok();
}

}  // namespace

Result<std::unique_ptr<PartitionsWriter>> PartitionsWriter::start(
    UfmModel& ufm, Target target, EffectDelay delay, ib::Membership default_membership) {
  std::unique_ptr<PartitionsWriter> writer(
      new PartitionsWriter(ufm, std::move(target), delay, default_membership));
  TRY(writer->write(default_membership));
  writer->thread_ = std::thread([writer = writer.get()] { writer->run(); });
  return writer;
}

PartitionsWriter::PartitionsWriter(UfmModel& ufm, Target target, EffectDelay delay,
                                   ib::Membership membership)
    : ufm_(ufm), target_(std::move(target)), delay_(delay), default_membership_(membership) {
  ufm_.set_listener([this] { note_change(); });
}

PartitionsWriter::~PartitionsWriter() {
  ufm_.set_listener({});
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void PartitionsWriter::note_change() {
  const std::lock_guard lock(mutex_);
  if (!since_) since_ = Deadline::Clock::now();
  changed_.notify_all();
}

void PartitionsWriter::set_delay(EffectDelay delay) {
  const std::lock_guard lock(mutex_);
  delay_ = delay;
  if (since_) since_ = Deadline::Clock::now();
  changed_.notify_all();
}

void PartitionsWriter::set_default_membership(ib::Membership membership) {
  const std::lock_guard lock(mutex_);
  default_membership_ = membership;
}

uint64_t PartitionsWriter::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

bool PartitionsWriter::wait_written(uint64_t generation, Deadline deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline.time(), [&] { return written_ >= generation; });
}

Status PartitionsWriter::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Status PartitionsWriter::write(ib::Membership membership) {
  const auto [generation, partitions] = ufm_.snapshot();
  TRY(write_file_atomically(target_.partitions, partitions_text(partitions, membership)));
  {
    const std::lock_guard lock(mutex_);
    written_ = generation;
    changed_.notify_all();
  }
  return hang_up(target_.pid_file);
}

void PartitionsWriter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!since_ || !delay_) {
      changed_.wait(lock);
    } else if (const auto due = *since_ + *delay_; Deadline::Clock::now() < due) {
      changed_.wait_until(lock, due);
    } else {
      since_.reset();
      const ib::Membership membership = default_membership_;
      lock.unlock();
      Status status = write(membership);
      lock.lock();
      if (!status) status_ = std::move(status);
    }
  }
}

}  // namespace ibpod::fake_ufm
