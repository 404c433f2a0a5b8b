#include "tests/vm/probes/port.h"

#include <cerrno>

namespace ibpod::probes {
namespace {

constexpr int kCompletions = 8192;

}  // namespace

Result<Port> Port::open() {
  int number = 0;
  const std::unique_ptr<ibv_device*, Closes<ibv_free_device_list>> devices(
      ibv_get_device_list(&number));
  if (!devices || number != 1)
    return Error(Code::not_found, "there are " + std::to_string(number) + " RDMA devices here");
  Port port;
  port.device_.reset(ibv_open_device(*devices));
  if (!port.device_) return Error::from_errno(errno, "open the RDMA device");
  port.domain_.reset(ibv_alloc_pd(port.device_.get()));
  if (!port.domain_) return Error::from_errno(errno, "make a protection domain");
  port.queue_.reset(ibv_create_cq(port.device_.get(), kCompletions, nullptr, nullptr, 0));
  if (!port.queue_) return Error::from_errno(errno, "make a completion queue");
  return port;
}

uint16_t Port::lid() const {
  ibv_port_attr attributes = {};
  return ibv_query_port(device_.get(), kPort, &attributes) == 0 ? attributes.lid : 0;
}

std::vector<Index> Port::indexes() const {
  std::vector<Index> indexes;
  ibv_port_attr attributes = {};
  if (ibv_query_port(device_.get(), kPort, &attributes) != 0) return indexes;
  for (Index index = 0; index < attributes.pkey_tbl_len; ++index) {
    __be16 key = 0;
    if (ibv_query_pkey(device_.get(), kPort, static_cast<int>(index), &key) == 0 && key != 0)
      indexes.push_back(index);
  }
  return indexes;
}

Result<Way> Port::way_to(uint16_t lid) const {
  ibv_ah_attr attributes = {};
  attributes.dlid = lid;
  attributes.port_num = kPort;
  Way way(ibv_create_ah(domain_.get(), &attributes));
  if (!way) return Error::from_errno(errno, "make an address handle");
  return way;
}

std::vector<ibv_wc> Port::completions() {
  std::vector<ibv_wc> all;
  ibv_wc one = {};
  while (ibv_poll_cq(queue_.get(), 1, &one) > 0) all.push_back(one);
  return all;
}

}  // namespace ibpod::probes
