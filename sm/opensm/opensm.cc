#include "sm/opensm/opensm.h"

#include "sm/opensm/own_port.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/stat.h>

namespace ibpod::sm::opensm {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes read of an earlier log: enough to find OpenSM's last change of state.
constexpr uint64_t kHistory = 4 << 20;

std::vector<Path> watched(const OpenSmEngineSettings& settings, const OpenSmPaths& paths) {
  std::vector<Path> files{paths.partitions, paths.log};
  if (settings.supervisor.external) files.push_back(settings.supervisor.external->pid_file);
  return files;
}

OpenSmPaths paths_of(const OpenSmEngineSettings& settings) {
  OpenSmPaths paths(settings.folder);
  if (settings.supervisor.external) paths.log = settings.supervisor.external->log;
  return paths;
}

int timeout_of(std::optional<Clock::time_point> time) {
  if (!time) return -1;
  const auto left = std::chrono::ceil<Duration>(*time - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60000));
}

}  // namespace

Result<std::unique_ptr<OpenSm>> OpenSm::start(OpenSmEngineSettings settings, OnChange changed,
                                              std::unique_ptr<Disk> disk) {
  TRY(make_folders(settings.folder));
  if (!disk) disk = std::make_unique<Disk>();
  Wake wake = TRY(Wake::open());
  FolderWatch watch = TRY(FolderWatch::of_files(watched(settings, paths_of(settings))));
  std::unique_ptr<OpenSm> engine(new OpenSm(std::move(settings), std::move(changed),
                                            std::move(disk), std::move(wake), std::move(watch)));
  TRY(engine->file_.open());
  engine->section_ = engine->file_.section();
  TRY(engine->log_.skip(0));
  engine->thread_ = std::thread([raw = engine.get()] { raw->run(); });
  return engine;
}

OpenSm::OpenSm(OpenSmEngineSettings settings, OnChange changed, std::unique_ptr<Disk> disk,
               Wake wake, FolderWatch watch)
    : settings_(std::move(settings)),
      paths_(paths_of(settings_)),
      on_change_(std::move(changed)),
      disk_(std::move(disk)),
      wake_(std::move(wake)),
      watch_(std::move(watch)),
      file_(*disk_, paths_.partitions, options_of(settings_.supervisor.opensm)),
      log_(paths_.log),
      sweep_tracker_(settings_.limits),
      supervisor_(settings_.supervisor, paths_) {}

OpenSm::~OpenSm() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.ring();
  if (thread_.joinable()) thread_.join();
}

void OpenSm::run() {
  do tick();
  while (wait());
}

// False if the engine is ending.
bool OpenSm::wait() {
  std::optional<Time> first = sweep_tracker_.alarm();
  if (const auto other = supervisor_.alarm()) first = first ? std::min(*first, *other) : other;
  std::array<pollfd, 3> waited{
      {{wake_.fd(), POLLIN, 0}, {watch_.fd(), POLLIN, 0}, {supervisor_.fd(), POLLIN, 0}}};
  (void)::poll(waited.data(), waited.size(), timeout_of(first));  // all are checked in any case
  wake_.drain();
  watch_.drain();
  const std::lock_guard lock(mutex_);
  return !ending_;
}

void OpenSm::tick() {
  read_log();
  inspect();
  supervise();
  take_desired();  // last: the next sweep reads what is desired before the end of this one
  while (act()) {
  }
  publish();
}

void OpenSm::take_desired() {
  const std::lock_guard lock(mutex_);
  sweep_tracker_.want(desired_version_);
  newest_ = desired_partitions_;
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
        reader_.restart();
        sweep_tracker_.started(Clock::now());
        break;
    }
  }
}

void OpenSm::adopt() {
  std::string log;
  if (log_.skip(kHistory)) {
    for (auto bytes = log_.read(); bytes && !bytes->empty(); bytes = log_.read()) log += *bytes;
  }
  reader_.restart();
  SweepTracker heard(settings_.limits);
  heard.started(Clock::now());
  for (const LogMark mark : reader_.take(of_last_process(log))) heard.hear(mark, Clock::now());
  sweep_tracker_.adopted(heard, Clock::now());
}

void OpenSm::read_log() {
  for (auto bytes = log_.read(); bytes && !bytes->empty(); bytes = log_.read()) {
    if (log_.take_lost()) sweep_tracker_.lost();
    for (const LogMark mark : reader_.take(*bytes)) sweep_tracker_.hear(mark, Clock::now());
  }
}

void OpenSm::inspect() {
  if (!file_.in_place()) return;
  file_.check_refused();
  struct stat found = {};
  FileStamp now;
  if (::stat(file_.path().c_str(), &found) == 0)
    now = {found.st_ino, found.st_size, found.st_ctim.tv_sec * 1000000000 + found.st_ctim.tv_nsec};
  if (seen_ == now) return;
  // A second change within one tick of the kernel's clock would not change the time stamp.
  constexpr std::chrono::milliseconds kTick{50};
  const auto age =
      std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(now.changed);
  seen_ = age > kTick ? std::optional(now) : std::nullopt;
  const PartitionsFile::Found what = file_.inspect();
  if (what == PartitionsFile::Found::ours) return;
  // The log until now is about the earlier file.
  read_log();
  note_found(what);
}

Result<PartitionsFile::Found> OpenSm::put(SweepTracker::Step step) {
  seen_.reset();
  if (step == SweepTracker::Step::restore) return file_.restore();
  TRY(check_own_port(*newest_, settings_.supervisor.opensm.port));
  return file_.place(*newest_);
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
  const auto done = put(step);
  read_log();  // about the earlier file
  refusal_ = done ? std::nullopt : std::optional(done.error());
  if (done) note_found(*done);
  if (!done) {
    sweep_tracker_.failed(Clock::now());
  } else if (step == SweepTracker::Step::restore) {
    sweep_tracker_.restored();
  } else {
    sweep_tracker_.placed(sweep_tracker_.wanted());
  }
  supervise();
  return true;
}

}  // namespace ibpod::sm::opensm
