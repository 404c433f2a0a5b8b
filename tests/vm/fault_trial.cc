#include "tests/vm/fault_trial.h"

#include "lib/base/clock.h"

#include <cstdio>
#include <sstream>

#include <poll.h>

namespace ibpod::vm {
namespace {

// Work that the kernel still does by itself when a verb has returned: it takes namespaces down
// later.
constexpr Duration kSettling{5000};
constexpr Duration kLookAgain{20};
constexpr size_t kTooMany = 12;

const char* verb_of(Recovery recovery) { return recovery == Recovery::by_gc ? "GC" : "DEL"; }

// If a lock is refused, its folder may be another process's lock by now: it stays for the next one
// to remove.
std::string without_empty_folders(const std::string& left) {
  std::istringstream lines(left);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("+ empty folder")) rest += line + "\n";
  }
  return rest;
}

}  // namespace

void Story::tell(const std::string& what, const Answer& answer) {
  text += "--- " + what + ": exit " + std::to_string(answer.traced.exit_code);
  if (!answer.traced.hit.empty()) text += ", hit " + answer.traced.hit;
  text += "\n" + answer.output + answer.errors;
}

Status Trials::begin() {
  before_ = TRY(snapshot(paths_));
  return ok();
}

bool Trials::give_up() const { return count_.failed >= kTooMany; }

Result<uint64_t> Trials::steps(const Scenario& scenario, const std::string& verb) {
  const bool add = verb == "ADD";
  TRY(remove_file(device_info_));
  const Answer added =
      TRY(plugin_.call("ADD", scenario.configuration, add ? Watched::yes : Watched::no));
  const Answer deleted =
      TRY(plugin_.call("DEL", scenario.configuration, add ? Watched::no : Watched::yes));
  const std::string left = what_is_left();
  if (added.done() && deleted.done() && left.empty())
    return add ? added.traced.calls : deleted.traced.calls;
  Story story;
  story.tell("ADD", added);
  story.tell("DEL", deleted);
  return Error(Code::internal, scenario.name + " without any fault: " + story.text + left);
}

Result<bool> Trials::attempt(const Point& point) {
  Story story;
  Answer faulted;
  TRY(remove_file(device_info_));
  std::string wrong = TRY(inject(point, faulted, story));
  const std::string unrecovered = TRY(recover(point, story));
  if (wrong.empty()) wrong = unrecovered;
  if (faulted.traced.hit.empty() && wrong.empty()) return false;
  note(point, wrong, story);
  if (!wrong.empty()) TRY(tidy_up(point));
  return true;
}

// Answers what is wrong already.
Result<std::string> Trials::inject(const Point& point, Answer& faulted, Story& story) {
  const std::string& configuration = point.scenario->configuration;
  if (point.verb == "DEL") {
    const Answer added = TRY(plugin_.call("ADD", configuration, Watched::no));
    story.tell("ADD", added);
    if (!added.done()) return std::string("the ADD before it failed");
  }
  faulted = TRY(plugin_.call(point.verb, configuration, Watched::yes, point.injection));
  story.tell(point.verb + " with a fault", faulted);
  return wrong_with(point, faulted);
}

std::string Trials::wrong_with(const Point& point, const Answer& faulted) {
  if (faulted.done()) return "";
  if (faulted.traced.hit.empty()) return point.verb + " failed before it came to the step";
  const bool refused = point.verb == "ADD" && point.injection.fault == Fault::fail;
  if (!refused || faulted.output.find("could not be undone") != std::string::npos) return "";
  const std::string left = without_empty_folders(what_is_left());
  return left.empty() ? left : "the rollback left something behind:\n" + left;
}

Result<std::string> Trials::recover(const Point& point, Story& story) {
  const bool by_gc = point.recovery == Recovery::by_gc;
  if (by_gc) TRY(pod_.drop());
  const bool done = TRY(call_until_done(point, story));
  if (by_gc) TRY(pod_.make());
  const std::string verb = verb_of(point.recovery);
  const std::string left = what_is_left();
  if (!left.empty()) return "after " + verb + " the node is not as it was:\n" + left;
  return done ? left : verb + " failed twice";
}

// A runtime calls again what has failed.
Result<bool> Trials::call_until_done(const Point& point, Story& story) {
  const std::string verb = verb_of(point.recovery);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = TRY(plugin_.call(verb, point.scenario->configuration, Watched::no));
    story.tell(verb, answer);
    if (answer.done()) return true;
  }
  return false;
}

std::string Trials::what_is_left() {
  const Deadline deadline = Deadline::in(kSettling);
  while (true) {
    const auto now = snapshot(paths_);
    const std::string left = now ? difference(before_, *now) : now.error().text();
    if (left.empty() || deadline.passed()) return left;
    ::poll(nullptr, 0, static_cast<int>(kLookAgain.count()));
  }
}

void Trials::note(const Point& point, const std::string& wrong, const Story& story) {
  ++count_.tried;
  ++(point.recovery == Recovery::by_gc ? count_.by_gc : count_.by_del);
  if (wrong.empty()) return;
  ++count_.failed;
  std::printf("FAIL: %s %s, %s at step %llu, recovered by %s: %s%s", point.scenario->name.c_str(),
              point.verb.c_str(), std::string(name(point.injection.fault)).c_str(),
              static_cast<unsigned long long>(point.injection.number), verb_of(point.recovery),
              wrong.c_str(), (wrong.ends_with('\n') ? "" : "\n"));
  std::printf("%s\n", story.text.c_str());
  std::fflush(stdout);
}

// So that the next trial starts clean; what cannot be cleaned is not blamed on it.
Status Trials::tidy_up(const Point& point) {
  TRY(plugin_.call("DEL", point.scenario->configuration, Watched::no));
  TRY(pod_.drop());
  TRY(plugin_.call("GC", point.scenario->configuration, Watched::no));
  TRY(pod_.make());
  if (what_is_left().empty()) return ok();
  std::printf("... and neither DEL nor GC clean it up\n");
  return begin();
}

}  // namespace ibpod::vm
