#include "lib/kube/registration_attempt.h"

#include "lib/kube/messages.h"

#include <array>
#include <utility>
#include <vector>

#include <poll.h>

namespace ibpod::kube {
namespace {

constexpr Duration kGrace{300};

}  // namespace

// A domain has no "_", so no two resources share a name.
std::string socket_name(std::string resource) {
  resource.replace(resource.find('/'), 1, "_");
  return resource + ".sock";
}

RegistrationAttempt::RegistrationAttempt(const Deps& deps, std::string resource, Mode mode,
                                         Path folder)
    : deps_(deps), resource_(std::move(resource)), mode_(mode), folder_(std::move(folder)) {}

RegistrationAttempt::~RegistrationAttempt() {
  call_.reset();
  deps_.service.streams().end();
  if (server_) server_->stop(kGrace);
  server_.reset();
}

Status RegistrationAttempt::begin(const Options& options) {
  watch_ = TRY(FolderWatch::open(folder_));
  kubelet_seen_ = FileIdentity::of(kubelet_socket());
  TRY(serve());
  return mode_ == Mode::legacy ? register_legacy(options) : ok();
}

Status RegistrationAttempt::serve() {
  const Path socket = folder_ / socket_name(resource_);
  deps_.service.streams().allow();
  std::vector<grpc::Service*> services{&deps_.service};
  if (mode_ == Mode::watcher) services.push_back(&watcher_.emplace(resource_, socket, deps_.state));
  server_ = TRY(rpc::Server::serve(socket, services));
  return ok();
}

// The server answers already: the kubelet calls back before it answers itself.
Status RegistrationAttempt::register_legacy(const Options& options) {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(socket_name(resource_));
  request.set_resource_name(resource_);
  *request.mutable_options() = options_message(options);
  call_ = TRY(RegisterCall::start(kubelet_socket(), std::move(request), deps_.state));
  return ok();
}

bool RegistrationAttempt::kubelet_was_replaced() const {
  if (mode_ != Mode::legacy || !watch_) return false;
  const std::optional<FileIdentity> now = FileIdentity::of(kubelet_socket());
  return now && now != kubelet_seen_;
}

void RegistrationAttempt::wait(Deadline deadline) {
  const Wake& wake = deps_.state.wake();
  std::array<pollfd, 2> waiting{{{wake.fd(), POLLIN, 0}, {watch_ ? watch_->fd() : -1, POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(deadline.left().count()));
  wake.drain();
  // An error of the watch shows in what is looked at next, or not at all.
  if (waiting[1].revents != 0) (void)watch_->wait(Deadline::in(Duration(0)));
}

}  // namespace ibpod::kube
