#include "sm/probe/scan_plan.h"

#include <utility>

namespace ibpod::sm {

void ScanPlan::look(Time now) {
  scan_at_ = std::min(scan_at_, now);
  once_more_ = under_way_ == Work::scan;
}

void ScanPlan::changed() {
  survey_wanted_ = true;
  pause_ = pace_.between;
}

std::optional<ScanPlan::Work> ScanPlan::take_due(Time now) {
  const auto due = next();
  if (!due || *due > now) return std::nullopt;
  under_way_ = scan_at_ <= now ? Work::scan : Work::survey;
  survey_wanted_ = false;
  return under_way_;
}

void ScanPlan::surveyed(Time begun, Time now, bool news) {
  if (under_way_ == Work::survey) under_way_.reset();
  pause_ = news ? pace_.between : std::min(pause_ * 2, std::max(pace_.between, pace_.most_between));
  surveyed_ = begun;
  survey_took_ = now - begun;
}

ScanPlan::Time ScanPlan::survey_from() const {
  if (!surveyed_) return Time::min();
  return *surveyed_ + std::max<Time::duration>(pause_, 5 * survey_took_);
}

void ScanPlan::scanned(Time begun, Time now, bool everything) {
  under_way_.reset();
  Time::duration rest = pace_.every;
  if (everything) {
    partial_ = pace_.partial;
  } else {
    rest = std::min(rest, std::max<Time::duration>(partial_, 5 * (now - begun)));
    partial_ = std::min(partial_ * 2, pace_.every);
  }
  scan_at_ = std::exchange(once_more_, false) ? now : now + rest;
}

std::optional<ScanPlan::Time> ScanPlan::next() const {
  if (under_way_) return std::nullopt;
  return survey_wanted_ ? std::min(scan_at_, survey_from()) : scan_at_;
}

}  // namespace ibpod::sm
