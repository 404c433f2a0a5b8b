#include "sm/ufm/change_pacer.h"

#include <algorithm>
#include <iterator>

namespace ibpod::sm::ufm {
namespace {

// A batch without any sign for so long is not waited for: its ports may be down.
constexpr std::chrono::minutes kForgotten{2};
constexpr size_t kMostBatches = 64;

Duration since(ChangePacer::Time from, ChangePacer::Time to) {
  return std::chrono::duration_cast<Duration>(to - from);
}

}  // namespace

void ChangePacer::changed(bool begins, const std::vector<ib::Guid>& added, Time now) {
  const bool preceded = last_ && now < *last_ + limits_.most;
  if (begins || batches_.empty()) {
    // Nothing has ever been in force: perhaps because the changes disturb each other.
    if (preceded && !undisturbed_) set_pause(2 * pause_);
    for (Batch& earlier : batches_) earlier.followed = earlier.followed || preceded;
    batches_.push_back({.since = now, .preceded = preceded});
    if (batches_.size() > kMostBatches) batches_.pop_front();
  }
  batches_.back().added.insert(added.begin(), added.end());
  last_ = now;
}

// What UFM gave OpenSM with this batch had the earlier ones in it.
void ChangePacer::in_force(ib::Guid port, Time now) {
  const auto found = std::find_if(batches_.rbegin(), batches_.rend(), [port](const Batch& batch) {
    return batch.added.contains(port);
  });
  if (found == batches_.rend()) return;
  const Batch batch = std::move(*found);
  batches_.erase(batches_.begin(), found.base());
  if (batches_.empty()) last_.reset();
  if (!undisturbed_) {
    undisturbed_ = since(batch.since, now);
    set_pause(*undisturbed_ / 2);
  } else if (!batch.followed) {
    if (!batch.preceded) undisturbed_ = since(batch.since, now);
    set_pause(pause_ * 49 / 50);
  } else if (!is_late(batch, now)) {
    set_pause(pause_ * 4 / 5);
  } else if (!batch.is_counted) {
    slow_down();
  }
}

void ChangePacer::advance(Time now) {
  while (!batches_.empty() && now >= batches_.front().since + kForgotten) batches_.pop_front();
  const bool is_new = std::any_of(batches_.begin(), batches_.end(), [&](const Batch& batch) {
    return batch.followed && !batch.is_counted && !batch.added.empty() && is_late(batch, now);
  });
  if (is_new) slow_down();
}

std::optional<ChangePacer::Time> ChangePacer::due() const {
  return last_ ? std::optional(*last_ + pause_) : std::nullopt;
}

bool ChangePacer::is_late(const Batch& batch, Time now) const {
  return undisturbed_ && since(batch.since, now) > *undisturbed_ * 5 / 4;
}

// All batches that are not in force were sent with the shorter pause: they count as one.
void ChangePacer::slow_down() {
  set_pause(std::max(2 * pause_, *undisturbed_ * 3 / 2));
  for (Batch& batch : batches_) batch.is_counted = true;
}

void ChangePacer::set_pause(Duration pause) {
  pause_ = std::clamp(pause, limits_.least, limits_.most);
}

}  // namespace ibpod::sm::ufm
