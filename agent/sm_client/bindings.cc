#include "agent/sm_client/bindings.h"

#include "agent/sm_client/bind_request.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

// A later try will not do better.
bool is_refusal(const Error& error) {
  switch (error.code()) {
    case Code::unavailable:
    case Code::busy:
    case Code::internal:
      return false;
    default:
      return true;
  }
}

}  // namespace

Bindings::~Bindings() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (auto& [attachment, course] : courses_) threads.push_back(std::move(course.thread));
  }
  changed_.notify_all();
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
}

void Bindings::bind(const fabricapi::BindRequest& request) {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(request.attachment);
  const bool same =
      found != courses_.end() && found->second.wanted == request && !found->second.error;
  if (same && (found->second.running || is_done(found->second))) return;
  begin(request.attachment, request);
}

void Bindings::unbind(const fabric::Attachment& attachment) {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(attachment);
  const bool same = found != courses_.end() && !found->second.wanted && !found->second.error;
  if (same && found->second.running) return;
  begin(attachment, std::nullopt);
}

void Bindings::begin(const fabric::Attachment& attachment,
                     std::optional<fabricapi::BindRequest> wanted) {
  Course& course = courses_[attachment];
  course.wanted = std::move(wanted);
  course.may_be_bound |= course.wanted.has_value();
  const std::string before = course.error ? course.error->text() : "";
  course.error.reset();
  course.last = {};
  course.last.attachment = attachment;
  course.last.state = course.wanted ? fabric::State::requested : fabric::State::releasing;
  // Whoever asks again is told what kept the last question from its answer.
  course.last.standing = {fabric::Reason::waiting,
                          before.empty() ? "the SM service has not answered yet" : before};
  course.moved = ++moment_;
  ++course.turn;
  changed_.notify_all();
  if (course.running || stopping_) return;
  if (course.thread.joinable()) course.thread.join();  // it has ended
  course.thread = std::thread([this, attachment] { run(attachment); });
  course.running = true;
}

Result<fabric::Binding> Bindings::ask(const fabric::Attachment& attachment,
                                      const std::optional<fabricapi::BindRequest>& wanted,
                                      Deadline deadline) {
  return wanted ? client_.bind(*wanted, deadline) : client_.unbind(attachment, deadline);
}

void Bindings::run(const fabric::Attachment& attachment) {
  BackOff pauses(pace_.first, pace_.most);
  std::unique_lock lock(mutex_);
  Course& course = courses_.at(attachment);
  while (!stopping_) {
    const auto wanted = course.wanted;
    const uint64_t turn = course.turn;
    const bool asks_leave = wanted && wanted->chosen && !is_granted(course);
    const Duration patience = asks_leave ? pace_.glance : pace_.slice;
    const Deadline soon = Deadline::in(patience / 2);
    lock.unlock();
    Result<fabric::Binding> told = ask(attachment, wanted, Deadline::in(patience));
    lock.lock();
    if (turn != course.turn) {
      pauses.reset();
      continue;
    }
    const bool answered = told.ok();
    if (answered) course.last = std::move(told).value();
    course.error = answered ? std::nullopt : std::optional(told.error());
    course.moved = ++moment_;
    changed_.notify_all();
    if (is_done(course)) {
      if (!wanted && !course.error) course.may_be_bound = false;
      break;
    }
    // A service that is there waits itself.
    if (answered && soon.passed()) continue;
    changed_.wait_for(lock, pauses.next(), [&] { return stopping_ || turn != course.turn; });
    // A release that nobody waits for is asked for again by whoever wants the device.
    if (turn == course.turn && !wanted && course.waiting == 0) break;
  }
  course.running = false;
  changed_.notify_all();
}

bool Bindings::is_granted(const Course& course) {
  return !course.error && agent::is_granted(course.last);
}

bool Bindings::is_done(const Course& course) {
  if (course.error) return is_refusal(*course.error);
  return course.last.state == (course.wanted ? fabric::State::verified : fabric::State::released);
}

Result<fabric::Binding> Bindings::answer(const Course& course) {
  if (course.error) return *course.error;
  return course.last;
}

Result<fabric::Binding> Bindings::await(const fabric::Attachment& attachment, Until until,
                                        Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto found = courses_.find(attachment);
  if (found == courses_.end()) return Error(Code::not_found, "nobody has asked for this binding");
  Course& course = found->second;
  ++course.waiting;
  changed_.wait_until(lock, deadline.time(), [&] {
    return stopping_ || is_done(course) || !course.running ||
           (until == Until::granted && is_granted(course));
  });
  --course.waiting;
  return answer(course);
}

Result<fabric::Binding> Bindings::now(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(attachment);
  if (found == courses_.end()) return Error(Code::not_found, "nobody has asked for this binding");
  return answer(found->second);
}

bool Bindings::may_have_bound(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(attachment);
  return found != courses_.end() && found->second.may_be_bound;
}

bool Bindings::underway() const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(courses_.begin(), courses_.end(),
                     [](const auto& one) { return one.second.running; });
}

Bindings::Moment Bindings::moment() const {
  const std::scoped_lock lock(mutex_);
  return moment_;
}

void Bindings::seen(const fabric::Binding& binding, Moment asked) {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(binding.attachment);
  if (found == courses_.end() || !found->second.wanted) return;
  if (has_moved(found->second, asked)) return;
  found->second.last = binding;
  found->second.error.reset();
}

void Bindings::bind_anew(const fabricapi::BindRequest& request, Moment asked) {
  const std::scoped_lock lock(mutex_);
  const auto found = courses_.find(request.attachment);
  if (found != courses_.end() && has_moved(found->second, asked)) return;
  begin(request.attachment, request);
}

void Bindings::forget_all_but(const std::set<fabric::Attachment>& attachments, Moment asked) {
  const std::scoped_lock lock(mutex_);
  for (auto entry = courses_.begin(); entry != courses_.end();) {
    Course& course = entry->second;
    const bool known = attachments.contains(entry->first);
    if (!known && course.running && course.wanted && course.moved <= asked)
      begin(entry->first, std::nullopt);
    if (known || has_moved(course, asked)) {
      ++entry;
      continue;
    }
    if (course.thread.joinable()) course.thread.join();
    entry = courses_.erase(entry);
  }
}

}  // namespace ibpod::agent
