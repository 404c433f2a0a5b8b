#include "sm/ufm/change_pacer.h"

#include <algorithm>
#include <iterator>

namespace ibpod::sm::ufm {
namespace {

// A batch without any sign for so long is not waited for: its ports may be down.
constexpr std::chrono::minutes kForgotten{2};
constexpr size_t kMostBatches = 64;
constexpr Duration kReading{500};

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

// UFM has given OpenSM the earlier batches with this one.
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
  } else if (batch.counted == Batch::in_time) {
    slow_down();
  }
}

void ChangePacer::advance(Time now) {
  while (!batches_.empty() && now >= batches_.front().since + kForgotten) batches_.pop_front();
  for (const Batch& batch : batches_) {
    if (!batch.followed || batch.added.empty()) continue;
    if (batch.counted == Batch::in_time && is_late(batch, now)) return slow_down();
    if (batch.counted != Batch::late || !is_lost(batch, now)) continue;
    // Nothing has been in force for so long: what was measured is too short.
    undisturbed_ = std::min(2 * *undisturbed_, limits_.most);
    slow_down();
    for (Batch& each : batches_) each.counted = Batch::lost;
    return;
  }
}

std::optional<ChangePacer::Time> ChangePacer::due() const {
  return last_ ? std::optional(*last_ + pause_) : std::nullopt;
}

// A table is read some time after it was written.
bool ChangePacer::is_late(const Batch& batch, Time now) const {
  return undisturbed_ && since(batch.since, now) > *undisturbed_ * 5 / 4 + kReading;
}
bool ChangePacer::is_lost(const Batch& batch, Time now) const {
  return undisturbed_ && since(batch.since, now) > 4 * (*undisturbed_ + kReading);
}

// All batches that are not in force were sent with the shorter pause: they count as one.
void ChangePacer::slow_down() {
  set_pause(std::max(pause_, *undisturbed_ * 5 / 4));
  for (Batch& batch : batches_) batch.counted = std::max(batch.counted, Batch::late);
}

void ChangePacer::set_pause(Duration pause) {
  pause_ = std::clamp(pause, limits_.least, limits_.most);
}

}  // namespace ibpod::sm::ufm
