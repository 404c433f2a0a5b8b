#include "tests/support/ufm/jobs.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_text.h"

namespace ibpod::fake_ufm {

using json::Value;

std::string Jobs::add(const std::string& operation, const std::string& user,
                      const std::string& failure, Time now) {
  const std::lock_guard lock(mutex_);
  std::string id = std::to_string(++last_);
  jobs_[id] = {operation, user, failure, now};
  return id;
}

std::string Jobs::show_one(const std::string& id, const Job& job, Time now,
                           const RestSettings& settings) {
  const bool running = now - job.created < settings.job_duration;
  const char* status = running               ? "Running"
                       : job.failure.empty() ? "Completed"
                                             : "Completed With Errors";
  Value shown = Value::object();
  shown.set("ID", id).set("Status", status).set("Progress", running ? 50 : 100);
  shown.set("Description", job.operation).set("Operation", job.operation);
  shown.set("Created", fake_ufm::show(job.created, settings));
  shown.set("LastUpdated", fake_ufm::show(running ? now : job.created, settings));
  shown.set("Summary", running ? "" : job.failure).set("CreatedBy", job.user);
  return shown.text();
}

std::optional<std::string> Jobs::show(const std::string& id, Time now,
                                      const RestSettings& settings) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  return show_one(id, found->second, now, settings);
}

std::string Jobs::show_all(Time now, const RestSettings& settings) const {
  const std::lock_guard lock(mutex_);
  std::string list;
  for (const auto& [id, job] : jobs_)
    list += (list.empty() ? "" : ",") + show_one(id, job, now, settings);
  return "[" + list + "]";
}

bool Jobs::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return jobs_.erase(id) > 0;
}

}  // namespace ibpod::fake_ufm
