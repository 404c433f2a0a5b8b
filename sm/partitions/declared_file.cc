#include "sm/partitions/declared_file.h"

#include <array>

#include <poll.h>

namespace ibpod::sm::partitions {
namespace {

// The delay until the folder is opened again if it is gone, and if no event has come from it: a
// parent folder, which is not watched, may have been replaced.
constexpr int kGoneMs = 1'000;
constexpr int kQuietMs = 10'000;

}  // namespace

Result<std::unique_ptr<DeclaredFile>> DeclaredFile::follow(Path file, Callback on_change) {
  // A ConfigMap's file is a link through ..data in its folder, which is what changes.
  FolderWatch watch = TRY(FolderWatch::open(file.parent_path()));
  Wake ending = TRY(Wake::open());
  return std::unique_ptr<DeclaredFile>(
      new DeclaredFile(std::move(file), std::move(on_change), std::move(watch), std::move(ending)));
}

DeclaredFile::DeclaredFile(Path file, Callback on_change, FolderWatch watch, Wake ending)
    : file_(std::move(file)),
      callback_(std::move(on_change)),
      watch_(std::move(watch)),
      ending_(std::move(ending)),
      thread_([this] { run(); }) {}

DeclaredFile::~DeclaredFile() {
  ending_.ring();
  thread_.join();
}

void DeclaredFile::read() {
  const Result<std::string> text = read_file(file_);
  const std::string seen = text ? "=" + *text : text.error().text();
  if (seen == seen_) return;
  seen_ = seen;
  if (text)
    callback_(read_declared(*text));
  else
    callback_(text.error());
}

// Watched before it is read, so that no change is missed. The watch is opened again each time, as
// the folder may have been replaced.
void DeclaredFile::run() {
  while (true) {
    read();
    std::array<pollfd, 2> waited{pollfd{ending_.fd(), POLLIN, 0},
                                 pollfd{watch_ ? watch_->fd() : -1, POLLIN, 0}};
    const int most = watch_ ? kQuietMs : kGoneMs;
    if (::poll(waited.data(), waited.size(), most) < 0 && errno != EINTR) return;
    if (waited[0].revents != 0) return;
    watch_again();
  }
}

void DeclaredFile::watch_again() {
  watch_.reset();
  Result<FolderWatch> watch = FolderWatch::open(file_.parent_path());
  if (watch) watch_ = std::move(*watch);
}

}  // namespace ibpod::sm::partitions
