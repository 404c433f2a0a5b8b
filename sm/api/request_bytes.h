// Requests and responses as bytes, so that the parts of a request are counted before it is parsed.
#pragma once

#include "lib/fabricapi/request_parts.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

namespace ibpod::sm::api {

// Parses the request and frees its bytes, which gRPC would keep as long as the call. invalid if it
// has too many parts, or is not a valid message.
template <typename Request>
Result<Request> parsed(const grpc::ByteBuffer* bytes) {
  grpc::ByteBuffer own;
  own.Swap(const_cast<grpc::ByteBuffer*>(bytes));  // gRPC's own buffer, which is never const
  TRY(rpc::check_parts(own, fabricapi::parts_of<Request>()));
  Request request;
  if (grpc::SerializationTraits<Request>::Deserialize(&own, &request).ok()) return request;
  return Error(Code::invalid, "the request is not a valid message of this method");
}

template <typename Message>
void put(Message message, Message* answer) {
  *answer = std::move(message);
}

// If a message cannot be serialized, the response stays empty, and gRPC reports that.
template <typename Message>
void put(const Message& message, grpc::ByteBuffer* answer) {
  bool own = false;
  if (!grpc::SerializationTraits<Message>::Serialize(message, answer, &own).ok()) answer->Clear();
}

}  // namespace ibpod::sm::api
