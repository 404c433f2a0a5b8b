#include "sm/probe/scan_plan.h"

#include <utility>

namespace ibpod::sm::probe {

void ScanPlan::rescan(Time now) {
  scan_at_ = std::min(scan_at_, now);
  once_more_ = under_way_ == Work::scan;
}

void ScanPlan::changed() {
  discovery_wanted_ = true;
  between_.reset();
}

std::optional<ScanPlan::Work> ScanPlan::take_due(Time now) {
  const auto due = next();
  if (!due || *due > now) return std::nullopt;
  under_way_ = scan_at_ <= now ? Work::scan : Work::discovery;
  discovery_wanted_ = false;
  return under_way_;
}

void ScanPlan::discovered(Time begun, Time now, bool news) {
  if (under_way_ == Work::discovery) under_way_.reset();
  if (news)
    between_.reset();
  else
    between_.next();
  last_discovery_began_ = begun;
  discovery_took_ = now - begun;
}

ScanPlan::Time ScanPlan::discovery_from() const {
  if (!last_discovery_began_) return Time::min();
  return *last_discovery_began_ + std::max<Time::duration>(between_.pause(), 5 * discovery_took_);
}

void ScanPlan::scanned(Time begun, Time now, bool everything) {
  under_way_.reset();
  Time::duration rest = pace_.every;
  if (everything) {
    partial_.reset();
  } else {
    rest = std::min(rest, std::max<Time::duration>(partial_.next(), 5 * (now - begun)));
  }
  scan_at_ = std::exchange(once_more_, false) ? now : now + rest;
}

std::optional<ScanPlan::Time> ScanPlan::next() const {
  if (under_way_) return std::nullopt;
  return discovery_wanted_ ? std::min(scan_at_, discovery_from()) : scan_at_;
}

}  // namespace ibpod::sm::probe
