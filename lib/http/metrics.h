// Metrics: a program's numbers and their Prometheus text.
// || A family is a constant; a value is set by its family and a value for each label, in order.
// Safe from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::http {

// counter: only grows; gauge: any value; histogram: observations by size.
enum class Kind { counter, gauge, histogram };

// Must outlive the Metrics. Names are unique.
struct Family {
  std::string_view name;  // "ibpod_allocations_total"
  std::string_view help;
  Kind kind = Kind::gauge;
  std::vector<std::string_view> labels = {};
  std::vector<double> bounds = {};  // upper bounds of a histogram's buckets, rising
};

using LabelValues = std::vector<std::string>;

struct Sample {
  LabelValues labels;
  double value = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A wrong number of label values is a bug and ends the program.
  void set(const Family& family, const LabelValues& labels, double value);
  void add(const Family& family, const LabelValues& labels, double value = 1);
  // For histograms.
  void observe(const Family& family, const LabelValues& labels, double value);
  // Replaces all samples of the family, so that samples of removed objects go.
  void replace(const Family& family, const std::vector<Sample>& samples);

  // The text exposition format 0.0.4: families and samples in a fixed order, values escaped.
  std::string text() const;

 private:
  struct Series;
  Series& series(const Family& family, const LabelValues& labels);
  mutable std::mutex mutex_;
  std::map<std::string_view, std::unique_ptr<Series>> families_;
};

}  // namespace ibpod::http
