#include "lib/http/metrics.h"

#include <cstdlib>
#include <utility>

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace ibpod::http {

struct Metrics::Series {
  const Family* family = nullptr;
  std::map<LabelValues, double> values;
  std::map<LabelValues, prometheus::Histogram> histograms;
};

namespace {

prometheus::MetricType type_of(Kind kind) {
  switch (kind) {
    case Kind::counter:
      return prometheus::MetricType::Counter;
    case Kind::gauge:
      return prometheus::MetricType::Gauge;
    case Kind::histogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric labelled(const Family& family, const LabelValues& values,
                                  prometheus::ClientMetric metric = {}) {
  for (size_t n = 0; n < values.size(); ++n)
    metric.label.push_back({std::string(family.labels[n]), values[n]});
  return metric;
}

}  // namespace

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

Metrics::Series& Metrics::series(const Family& family, const LabelValues& labels) {
  if (labels.size() != family.labels.size()) std::abort();
  std::unique_ptr<Series>& found = families_[family.name];
  if (!found) found = std::make_unique<Series>(Series{&family, {}, {}});
  return *found;
}

void Metrics::set(const Family& family, const LabelValues& labels, double value) {
  const std::lock_guard lock(mutex_);
  series(family, labels).values[labels] = value;
}

void Metrics::add(const Family& family, const LabelValues& labels, double value) {
  const std::lock_guard lock(mutex_);
  series(family, labels).values[labels] += value;
}

void Metrics::observe(const Family& family, const LabelValues& labels, double value) {
  const std::lock_guard lock(mutex_);
  series(family, labels).histograms.try_emplace(labels, family.bounds).first->second.Observe(value);
}

void Metrics::replace(const Family& family, const std::vector<Sample>& samples) {
  const std::lock_guard lock(mutex_);
  families_.erase(family.name);
  for (const Sample& sample : samples)
    series(family, sample.labels).values[sample.labels] = sample.value;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [name, series] : families_) {
    const Family& family = *series->family;
    families.push_back({std::string(name), std::string(family.help), type_of(family.kind), {}});
    for (const auto& [labels, value] : series->values) {
      prometheus::ClientMetric metric = labelled(family, labels);
      metric.counter.value = value;
      metric.gauge.value = value;
      families.back().metric.push_back(std::move(metric));
    }
    for (const auto& [labels, histogram] : series->histograms)
      families.back().metric.push_back(labelled(family, labels, histogram.Collect()));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace ibpod::http
