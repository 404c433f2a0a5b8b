#include "tests/support/fake_endpoint.h"

namespace ibpod {

std::shared_ptr<grpc::Channel> dial_plugin(const Path& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(4 << 20);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, socket.string());
  // A new socket is not mistaken for the one before it.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + socket.string(), grpc::InsecureChannelCredentials(),
                                   arguments);
}

FakeEndpoint::FakeEndpoint(const Path& socket)
    : stub_(v1beta1::DevicePlugin::NewStub(dial_plugin(socket))) {}

FakeEndpoint::~FakeEndpoint() {
  hang_up();
  if (reader_.joinable()) reader_.join();
}

void FakeEndpoint::listen(std::function<void(const List&)> on_list, std::function<void()> on_end) {
  reader_ = std::thread([this, on_list = std::move(on_list), on_end = std::move(on_end)] {
    const auto stream = stub_->ListAndWatch(&context_, {});
    List list;
    while (stream->Read(&list)) on_list(list);
    (void)stream->Finish();  // however it ended, the kubelet does the same
    on_end();
  });
}

}  // namespace ibpod
