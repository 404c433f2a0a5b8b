// FakeStore: a Store in memory, of which a commit can fail in each of the ways that a Store may.
#pragma once

#include "sm/state/store.h"

#include <optional>

namespace ibpod::sm {

class FakeStore final : public state::Store {
 public:
  // full: unavailable, nothing is there. lost: nothing is there, and the caller cannot know. kept:
  // all is there, and the caller cannot know.
  enum class Failure { full, lost, kept };

  // Commit n from now fails, 0 being the next one.
  void fail_at(size_t n, Failure how) {
    fail_at_ = commits_ + n;
    how_ = how;
  }
  void fail_no_more() { fail_at_.reset(); }
  // Makes all() fail, or succeed again.
  void unreadable(bool is) { unreadable_ = is; }
  size_t commits() const { return commits_; }

  Result<std::map<std::string, std::string>> all(state::RecordKind kind) override {
    if (unreadable_) return Error(Code::internal, "disk I/O error");
    return objects[kind];
  }

  Status commit(const std::vector<state::RecordChange>& changes) override {
    const bool fails = fail_at_ == commits_++;
    if (!fails || how_ == Failure::kept) make(changes);
    if (!fails) return ok();
    return Error(how_ == Failure::full ? Code::unavailable : Code::internal, "a failure");
  }

  std::map<state::RecordKind, std::map<std::string, std::string>> objects;

 private:
  void make(const std::vector<state::RecordChange>& changes) {
    for (const state::RecordChange& change : changes) {
      if (change.value)
        objects[change.kind][change.key] = *change.value;
      else
        objects[change.kind].erase(change.key);
    }
  }

  size_t commits_ = 0;
  std::optional<size_t> fail_at_;
  Failure how_ = Failure::full;
  bool unreadable_ = false;
};

}  // namespace ibpod::sm
