#include "sm/opensm/opensm.h"

#include "sm/opensm/own_port.h"

#include <algorithm>
#include <chrono>

namespace ibpod::sm::opensm {
namespace {

using Clock = std::chrono::steady_clock;

OpenSmPaths paths_of(const OpenSmEngineSettings& settings) {
  OpenSmPaths paths(settings.folder);
  if (settings.launcher.external) paths.log = settings.launcher.external->log;
  return paths;
}

std::vector<Path> watched(const OpenSmEngineSettings& settings, const OpenSmPaths& paths) {
  std::vector<Path> files{paths.partitions, paths.log};
  if (settings.launcher.external) files.push_back(settings.launcher.external->pid_file);
  return files;
}

std::optional<Clock::time_point> earlier(std::optional<Clock::time_point> one,
                                         std::optional<Clock::time_point> other) {
  return one && other ? std::min(*one, *other) : one ? one : other;
}

}  // namespace

Result<std::unique_ptr<OpenSm>> OpenSm::start(OpenSmEngineSettings settings, OnChange changed,
                                              std::unique_ptr<Disk> disk) {
  TRY(make_folders(settings.folder));
  if (!disk) disk = std::make_unique<Disk>();
  const OpenSmPaths paths = paths_of(settings);
  OpensmEvents events = TRY(OpensmEvents::watch(watched(settings, paths)));
  std::unique_ptr<OpenSm> engine(new OpenSm(std::move(settings), paths, std::move(changed),
                                            std::move(disk), std::move(events)));
  TRY(engine->file_.open());
  engine->published_.publish({}, {engine->file_.section(), engine->file_.bytes()});
  TRY(engine->log_.skip());
  engine->thread_ =
      std::jthread([raw = engine.get()](const std::stop_token& stop) { raw->run(stop); });
  return engine;
}

OpenSm::OpenSm(OpenSmEngineSettings settings, const OpenSmPaths& paths, OnChange changed,
               std::unique_ptr<Disk> disk, OpensmEvents events)
    : settings_(std::move(settings)),
      events_(std::move(events)),
      published_(std::move(changed)),
      disk_(std::move(disk)),
      file_(*disk_, paths.partitions, options_of(settings_.launcher.opensm)),
      file_changes_(paths.partitions),
      log_(paths.log),
      sweep_tracker_(settings_.limits),
      supervisor_(settings_.supervisor, {settings_.launcher, paths}) {}

OpenSm::~OpenSm() {
  thread_.request_stop();
  events_.ring();
}

void OpenSm::run(const std::stop_token& stop) {
  do {
    tick();
    events_.wait(supervisor_.fd(), earlier(sweep_tracker_.alarm(), supervisor_.alarm()));
  } while (!stop.stop_requested());
}

void OpenSm::tick() {
  read_log();
  inspect();
  supervise();
  // Last: the next sweep reads what is desired before the end of this one.
  sweep_tracker_.want(desired_.newest().version);
  while (act()) {
  }
  publish();
}

void OpenSm::supervise() {
  while (true) {
    switch (supervisor_.tick(Clock::now(), file_.in_place() && sweep_tracker_.ours())) {
      case OpensmSupervisor::Change::none:
        return;
      case OpensmSupervisor::Change::ended:
        read_log();
        sweep_tracker_.gone();
        break;
      case OpensmSupervisor::Change::found:
        adopt();
        break;
      case OpensmSupervisor::Change::started:
        // Lines that it has written already are still unread, and come after this point.
        log_.restart();
        sweep_tracker_.started(Clock::now());
        break;
    }
  }
}

void OpenSm::adopt() {
  SweepTracker heard(settings_.limits);
  heard.started(Clock::now());
  for (const LogMark mark : log_.reread()) heard.hear(mark, Clock::now());
  sweep_tracker_.adopted(heard, Clock::now());
}

void OpenSm::read_log() {
  for (auto part = log_.read(); part; part = log_.read()) {
    if (part->lost) sweep_tracker_.lost();
    for (const LogMark mark : part->marks) sweep_tracker_.hear(mark, Clock::now());
  }
}

void OpenSm::inspect() {
  if (!file_.in_place()) return;
  file_.check_refused();
  if (!file_changes_.changed(std::chrono::system_clock::now())) return;
  const PartitionsFile::Found what = file_.inspect();
  if (what == PartitionsFile::Found::ours) return;
  // The log until now is about the earlier file.
  read_log();
  note_found(what);
}

void OpenSm::note_found(PartitionsFile::Found found) {
  if (found == PartitionsFile::Found::edited) sweep_tracker_.edited();
  if (found == PartitionsFile::Found::foreign) sweep_tracker_.violated();
}

// Returns true if there may be more to do.
bool OpenSm::act() {
  const SweepTracker::Step step = sweep_tracker_.next(Clock::now());
  if (step == SweepTracker::Step::nothing) return false;
  if (step == SweepTracker::Step::hup) {
    const Status sent = supervisor_.hup();
    sweep_tracker_.hupped(Clock::now());
    return sent.ok();
  }
  file_changes_.reset();
  const bool restores = step == SweepTracker::Step::restore;
  const DesiredPartitions::Version newest = desired_.newest();
  const auto done = restores ? file_.restore() : put(newest);
  read_log();  // about the earlier file
  refusal_ = done ? std::nullopt : std::optional(done.error());
  if (done) note_found(*done);
  if (!done) {
    sweep_tracker_.failed(Clock::now());
  } else if (restores) {
    sweep_tracker_.restored();
  } else {
    sweep_tracker_.want(newest.version);
    sweep_tracker_.placed(newest.version);
  }
  supervise();
  return true;
}

Result<PartitionsFile::Found> OpenSm::put(const DesiredPartitions::Version& desired) {
  TRY(check_own_port(*desired.partitions, settings_.launcher.opensm.port));
  return file_.place(*desired.partitions);
}

}  // namespace ibpod::sm::opensm
