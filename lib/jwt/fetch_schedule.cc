#include "lib/jwt/fetch_schedule.h"

#include "lib/base/jitter.h"

#include <algorithm>
#include <utility>

namespace ibpod::jwt {

FetchSchedule::FetchSchedule(const Settings& settings, Time start, std::function<double()> random)
    : settings_(settings), random_(std::move(random)), due_(start), earliest_(start) {}

void FetchSchedule::succeeded(Time now) {
  settings_.pauses.reset();
  due_ = now + jittered(settings_.interval, random_());
  earliest_ = now + settings_.spacing;
}

void FetchSchedule::failed(Time now) {
  due_ = now + jittered(settings_.pauses.next(), random_());
  earliest_ = due_;
}

void FetchSchedule::key_missing() { due_ = std::min(due_, earliest_); }

}  // namespace ibpod::jwt
