#include "sm/declared/declared_file.h"

#include <array>

#include <poll.h>

namespace ibpod::sm {

Result<std::unique_ptr<DeclaredFile>> DeclaredFile::follow(Path file, Told told) {
  // A ConfigMap's file is a link through ..data in its folder, which is what changes.
  FolderWatch watch = TRY(FolderWatch::open(file.parent_path()));
  Wake ending = TRY(Wake::open());
  return std::unique_ptr<DeclaredFile>(
      new DeclaredFile(std::move(file), std::move(told), std::move(watch), std::move(ending)));
}

DeclaredFile::DeclaredFile(Path file, Told told, FolderWatch watch, Wake ending)
    : file_(std::move(file)),
      told_(std::move(told)),
      watch_(std::move(watch)),
      ending_(std::move(ending)),
      thread_([this] { run(); }) {}

DeclaredFile::~DeclaredFile() {
  ending_.ring();
  thread_.join();
}

void DeclaredFile::look() {
  const Result<std::string> text = read_file(file_);
  const std::string seen = text ? "=" + *text : text.error().text();
  if (seen == seen_) return;
  seen_ = seen;
  if (text)
    told_(read_declared(*text));
  else
    told_(text.error());
}

void DeclaredFile::run() {
  while (true) {
    look();
    std::array<pollfd, 2> waited{pollfd{watch_.fd(), POLLIN, 0}, pollfd{ending_.fd(), POLLIN, 0}};
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    // Takes what has been told. Without a watch there is nothing to wait for any more.
    if (waited[0].revents != 0 && !watch_.wait(Deadline::in(Duration(0)))) return;
  }
}

}  // namespace ibpod::sm
