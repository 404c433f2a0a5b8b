#include "lib/rpc/parts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

namespace ibpod::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using Input = google::protobuf::io::CodedInputStream;

Error malformed() {
  return Error(Code::invalid, "the request is not a valid message of this method");
}

// How many numbers are in the next `size` bytes: each ends with a byte below 128.
bool count_numbers(Input& input, uint32_t size, int64_t& count) {
  while (size > 0) {
    const void* data = nullptr;
    int there = 0;
    if (!input.GetDirectBufferPointer(&data, &there)) return false;
    const int taken = static_cast<int>(std::min<uint32_t>(size, static_cast<uint32_t>(there)));
    const auto* const bytes = static_cast<const uint8_t*>(data);
    count += std::count_if(bytes, bytes + taken, [](uint8_t byte) { return byte < 128; });
    if (!input.Skip(taken)) return false;
    size -= static_cast<uint32_t>(taken);
  }
  return true;
}

class Counter {
 public:
  // To the end of the input, or of the limit that is set there.
  Status count(Input& input, std::span<const Part> parts) {
    while (const uint32_t tag = input.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      const auto part = std::find_if(parts.begin(), parts.end(),
                                     [&](const Part& one) { return one.field == field; });
      if (part != parts.end()) {
        TRY(count(input, tag, *part));
      } else if (!WireFormatLite::SkipField(&input, tag)) {
        return malformed();
      }
    }
    return input.ConsumedEntireMessage() ? ok() : malformed();
  }

 private:
  Status count(Input& input, uint32_t tag, const Part& part) {
    const bool bytes =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    const bool numbers = bytes && part.kind == Part::Kind::numbers;
    uint32_t size = 0;
    if (bytes && !input.ReadVarint32(&size)) return malformed();
    int64_t& count = counts_[&part];
    if (numbers && !count_numbers(input, size, count)) return malformed();
    if (!numbers) ++count;
    if (count > part.most)
      return Error(Code::invalid, std::string(part.name) + ": expected at most " +
                                      std::to_string(part.most) + " items, got more");
    if (numbers) return ok();
    if (bytes && part.inner.empty()) return input.Skip(static_cast<int>(size)) ? ok() : malformed();
    if (!bytes) return WireFormatLite::SkipField(&input, tag) ? ok() : malformed();
    return count_inner(input, size, part);
  }

  Status count_inner(Input& input, uint32_t size, const Part& part) {
    if (size > INT32_MAX) return malformed();
    const Input::Limit outer = input.PushLimit(static_cast<int>(size));
    TRY(count(input, part.inner));
    // If a message ends before its size, the limit is beyond the input.
    if (input.BytesUntilLimit() != 0) return malformed();
    input.PopLimit(outer);
    return ok();
  }

  std::map<const Part*, int64_t> counts_;
};

}  // namespace

Status check_parts(const grpc::ByteBuffer& bytes, std::span<const Part> parts) {
  grpc::ByteBuffer same = bytes;  // which shares its memory
  if (!same.Valid()) return malformed();
  grpc::ProtoBufferReader reader(&same);
  Input input(&reader);
  return Counter().count(input, parts);
}

}  // namespace ibpod::rpc
