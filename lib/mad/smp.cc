#include "lib/mad/smp.h"

#include "lib/mad/bytes.h"

#include <algorithm>
#include <cstdio>

namespace ibpod::mad {
namespace {

// Offsets in a packet, in bytes.
constexpr size_t kBaseVersion = 0;
constexpr size_t kClass = 1;
constexpr size_t kClassVersion = 2;
constexpr size_t kMethod = 3;
constexpr size_t kStatus = 4;
constexpr size_t kHopPointer = 6;
constexpr size_t kHopCount = 7;
constexpr size_t kTransactionLow = 12;
constexpr size_t kAttribute = 16;
constexpr size_t kModifier = 20;
constexpr size_t kMKey = 24;
constexpr size_t kDirectedSource = 32;
constexpr size_t kDirectedDestination = 34;
constexpr size_t kData = 64;
constexpr size_t kInitialPath = 128;

constexpr uint8_t kVersion = 1;
constexpr uint8_t kLidRouted = 0x01;
constexpr uint8_t kDirectedRoute = 0x81;
constexpr uint8_t kGetAnswer = 0x81;  // to a Set, too
constexpr ib::Lid kPermissive = 0xffff;
// D: the packet is on its way back.
constexpr uint16_t kDirectionBit = 0x8000;

// Between nodes that are directed to at both ends no LID is needed.
void store_path(Mad& mad, const Route& route) {
  store<kHopPointer>(mad, uint8_t{0});
  store<kHopCount>(mad, static_cast<uint8_t>(route.hops().size()));
  store<kDirectedSource>(mad, kPermissive);
  store<kDirectedDestination>(mad, kPermissive);
  std::transform(route.hops().begin(), route.hops().end(), mad.begin() + kInitialPath + 1,
                 [](uint8_t port) { return std::byte{port}; });
}

Error foreign(const char* what) {
  return Error(Code::invalid, std::string("invalid packet: ") + what);
}

}  // namespace

std::string status_text(uint16_t status) {
  if ((status & kStatusBusy) != 0) return "busy";
  switch (status & 0x1c) {
    case 0x04:
      return "version not supported";
    case 0x08:
      return "no such method";
    case kStatusBadAttribute:
      return "no such attribute, or not with this method";
    case kStatusBadValue:
      return "invalid value";
  }
  char text[16];
  std::snprintf(text, sizeof text, "status %#x", unsigned{status});
  return text;
}

Mad encode(const SmpRequest& question, const Route& route, uint32_t transaction) {
  Mad mad{};
  store<kBaseVersion>(mad, kVersion);
  store<kClass>(mad, route.directed() ? kDirectedRoute : kLidRouted);
  store<kClassVersion>(mad, kVersion);
  store<kMethod>(mad, static_cast<uint8_t>(question.method));
  store<kTransactionLow>(mad, transaction);
  store<kAttribute>(mad, static_cast<uint16_t>(question.attribute));
  store<kModifier>(mad, question.modifier);
  store<kMKey>(mad, static_cast<uint64_t>(question.m_key));
  if (route.directed()) store_path(mad, route);
  std::copy(question.data.begin(), question.data.end(), mad.begin() + kData);
  return mad;
}

uint32_t transaction_of(const Mad& mad) { return load<uint32_t, kTransactionLow>(mad); }

Result<SmpResponse> parse_response(const Mad& mad) {
  const auto management_class = load<uint8_t, kClass>(mad);
  const bool directed = management_class == kDirectedRoute;
  if (load<uint8_t, kBaseVersion>(mad) != kVersion) return foreign("base version");
  if (!directed && management_class != kLidRouted) return foreign("management class");
  if (load<uint8_t, kClassVersion>(mad) != kVersion) return foreign("class version");
  if (load<uint8_t, kMethod>(mad) != kGetAnswer) return foreign("not a GetResp");
  SmpResponse answer;
  answer.directed = directed;
  answer.attribute = static_cast<Attribute>(load<uint16_t, kAttribute>(mad));
  answer.modifier = load<uint32_t, kModifier>(mad);
  answer.transaction = transaction_of(mad);
  answer.status = load<uint16_t, kStatus>(mad);
  if (directed) answer.status = static_cast<uint16_t>(answer.status & ~kDirectionBit);
  std::copy_n(mad.begin() + kData, answer.data.size(), answer.data.begin());
  return answer;
}

}  // namespace ibpod::mad
