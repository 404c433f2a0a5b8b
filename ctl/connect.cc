#include "ctl/connect.h"

#include "lib/fabricapi/client.h"
#include "lib/rpc/tls_channel.h"

#include <charconv>

namespace ibpod::ctl {
namespace {

using fabricapi::Client;

class ClientService final : public Service {
 public:
  explicit ClientService(Client client) : client_(std::move(client)) {}

  Result<fabric::TenancyStatus> create_partition(const fabric::Tenancy& tenancy,
                                                 Deadline deadline) override {
    return client_.create_partition(tenancy, deadline);
  }
  Result<fabric::TenancyStatus> update_partition(const fabric::Tenancy& tenancy,
                                                 Deadline deadline) override {
    return client_.update_partition(tenancy, deadline);
  }
  Result<fabric::TenancyStatus> delete_partition(const std::string& name,
                                                 Deadline deadline) override {
    return client_.delete_partition(name, deadline);
  }
  Result<fabricapi::Listed<fabric::TenancyStatus>> list_partitions(const fabricapi::Page& page,
                                                                   Deadline deadline) override {
    return client_.list_partitions(page, deadline);
  }
  Result<fabric::Binding> get_binding(const fabric::Attachment& attachment,
                                      Deadline deadline) override {
    return client_.get_binding(attachment, deadline);
  }
  Result<fabric::Binding> unbind(const fabric::Attachment& attachment, Deadline deadline) override {
    return client_.unbind(attachment, deadline);
  }
  Result<fabricapi::Listed<fabric::Binding>> list_bindings(const fabricapi::BindingFilter& filter,
                                                           const fabricapi::Page& page,
                                                           Deadline deadline) override {
    return client_.list_bindings(filter, page, deadline);
  }
  Result<std::vector<fabricapi::Node>> list_nodes(Deadline deadline) override {
    return client_.list_nodes(deadline);
  }
  Result<fabricapi::Node> forget_node(const std::string& node, Deadline deadline) override {
    return client_.forget_node(node, deadline);
  }
  Result<fabricapi::Plan> plan(const fabricapi::PlanRequest& request, Deadline deadline) override {
    return client_.plan(request, deadline);
  }
  Result<fabricapi::Explanation> explain(const fabricapi::ExplainRequest& request,
                                         Deadline deadline) override {
    return client_.explain(request, deadline);
  }
  Result<fabricapi::FabricHealth> health(Deadline deadline) override {
    return client_.health(deadline);
  }

 private:
  Client client_;
};

std::unique_ptr<Service> serve(Client client) {
  return std::make_unique<ClientService>(std::move(client));
}

// A name or an address; one of IPv6 in brackets, or its end would pass for the port.
bool is_host(std::string_view text) {
  const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (bracketed) text = text.substr(1, text.size() - 2);
  return !text.empty() && text.find_first_of(bracketed ? "[]" : "[]:") == text.npos;
}

bool is_port(std::string_view text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stop == end && port > 0;
}

bool is_host_and_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon != text.npos && is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1));
}

Result<std::unique_ptr<Service>> connect_tls(const SmPlace& place) {
  if (!is_host_and_port(place.address)) {
    return Error(Code::invalid,
                 "--sm: expected unix:PATH or HOST:PORT, got \"" + place.address + "\"");
  }
  for (const auto& [option, file] :
       {std::pair{"--certificate", &place.certificate}, std::pair{"--key", &place.key},
        std::pair{"--ca", &place.ca}}) {
    if (file->empty()) {
      return Error(Code::invalid, std::string(option) + ": " + place.address +
                                      " is asked over TLS, which needs --certificate, --key and "
                                      "--ca");
    }
  }
  std::shared_ptr<rpc::TlsChannel> channel = TRY(rpc::TlsChannel::open(
      {.target = place.address,
       .files = {.certificate = place.certificate, .key = place.key, .ca = place.ca}}));
  return serve(Client::over_tls(channel, place.address, place.fabric));
}

}  // namespace

Result<std::unique_ptr<Service>> connect(const SmPlace& place) {
  constexpr std::string_view kUnix = "unix:";
  if (place.address.rfind(kUnix, 0) != 0) return connect_tls(place);
  const Path socket = place.address.substr(kUnix.size());
  if (!socket.is_absolute()) {
    return Error(Code::invalid,
                 "--sm: expected an absolute path behind unix:, got \"" + place.address + "\"");
  }
  return serve(Client::over_unix(socket, place.fabric));
}

}  // namespace ibpod::ctl
