// Metrics: a program's numbers, and their text for Prometheus.
//
// A family is declared once, as a constant; what sets it names it and gives a value for each of its
// labels, in their order. All of it from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::http {

// counter: only grows; gauge: is what it is; histogram: counts observations by size.
enum class Kind { counter, gauge, histogram };
std::string_view name(Kind kind);

// Lives as long as the Metrics that hold something of it; two never share a name.
struct Family {
  std::string_view name;  // "ibpod_allocations_total"
  std::string_view help;
  Kind kind = Kind::gauge;
  std::vector<std::string_view> labels = {};
  std::vector<double> bounds = {};  // of a histogram: upper ends of its buckets, rising
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

  // A number of label values that is not the family's is a bug and ends the program.
  void set(const Family& family, const LabelValues& labels, double value);
  void add(const Family& family, const LabelValues& labels, double value = 1);
  // Of a histogram.
  void observe(const Family& family, const LabelValues& labels, double value);
  // The family is these samples from now on: what described something that is gone goes with it.
  void replace(const Family& family, const std::vector<Sample>& samples);
  // Takes away one, whatever its kind; it need not be there.
  void remove(const Family& family, const LabelValues& labels);

  // What was set, of a counter or a gauge; 0 for what never was.
  double value(const Family& family, const LabelValues& labels) const;
  // The text exposition format 0.0.4: families and samples in a fixed order, values escaped.
  std::string text() const;

 private:
  struct Series;
  Series& series(const Family& family, const LabelValues& labels);
  mutable std::mutex mutex_;
  std::map<std::string_view, std::unique_ptr<Series>> families_;
};

}  // namespace ibpod::http
