// Subnet management packets (SMPs; IBA 1.4, volume 1, 14.2.1, laid out as in Linux's
// include/rdma/ib_smi.h): an SmpRequest goes to a node, an SmpResponse comes back. Bytes and values
// only; no I/O. Numbers are in host byte order here, in the wire's only inside Mad and Data.
#pragma once

#include "lib/base/result.h"
#include "lib/mad/route.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ibpod::mad {

// A whole packet, as on the wire.
using Mad = std::array<std::byte, 256>;
// The attribute data of a packet, as on the wire; node_info.h and others read it.
using Data = std::array<std::byte, 64>;

enum class Method : uint8_t { get = 0x01, set = 0x02 };

enum class Attribute : uint16_t {
  node_description = 0x0010,
  node_info = 0x0011,
  switch_info = 0x0012,
  port_info = 0x0015,
  pkey_table = 0x0016,
  sm_info = 0x0020,
};

// The key that permits to manage a port (14.2.4). A secret: no log and no error carries it.
enum class MKey : uint64_t { none = 0 };

struct SmpRequest {
  Method method = Method::get;
  Attribute attribute = Attribute::node_info;
  // Which port or block of it; its meaning is the attribute's.
  uint32_t modifier = 0;
  MKey m_key = MKey::none;
  Data data = {};  // of a Set; zeros in a Get

  bool operator==(const SmpRequest&) const = default;
};

struct SmpResponse {
  bool directed = false;
  Attribute attribute = Attribute::node_info;  // as received, so perhaps none of the above
  uint32_t modifier = 0;
  uint32_t transaction = 0;
  // The common status (13.4.7) without the direction bit of directed routes; 0: done.
  uint16_t status = 0;
  Data data = {};
};

inline constexpr uint16_t kStatusBusy = 0x0001;
inline constexpr uint16_t kStatusBadAttribute = 0x000c;  // the node does not have it
inline constexpr uint16_t kStatusBadValue = 0x001c;      // of the attribute or of its modifier
// "busy", "no such attribute or method" …; a number where nothing is known of it.
std::string status_text(uint16_t status);

// `transaction` is the lower half of the packet's: the kernel fills the upper one.
Mad encode(const SmpRequest& question, const Route& route, uint32_t transaction);

// The lower half of the transaction of anything that claims to be a packet.
uint32_t transaction_of(const Mad& mad);

// invalid if it is not the answer to a Get or Set of subnet management. The caller compares which
// question it answers.
Result<SmpResponse> parse_response(const Mad& mad);

}  // namespace ibpod::mad
