// For any bytes: a message that is accepted can be written and read again unchanged, and a refusal
// is short and safe for any terminal. The first byte selects the message.
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/messages.h"
#include "lib/fabricapi/request_parts.h"
#include "lib/rpc/grpc_log.h"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace ibpod::fabricapi {
namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

void check_refusal(const Error& error) {
  constexpr size_t kMost = 1000;
  require(error.code() == Code::invalid);
  require(error.text().size() < kMost && cleaned(error.text()) == error.text());
}

// Some texts are cleaned when written (cleaned() in fields.h), so the written values are compared.
template <typename Message, typename Value, Result<Value> (*read)(const Message&)>
void there_and_back(const uint8_t* data, size_t size) {
  Message message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  const Result<Value> taken = read(message);
  if (!taken) return check_refusal(taken.error());
  const Result<Value> told = read(to_message(*taken));
  require(told.ok());
  const Result<Value> again = read(to_message(*told));
  require(again.ok() && *again == *told);
}

// An answer that is used as its message.
template <typename Message>
void check_of(const uint8_t* data, size_t size) {
  Message message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  const Status checked = check_answer(message);
  if (!checked) check_refusal(checked.error());
}

template <typename Message>
void sent_clean(const uint8_t* data, size_t size) {
  Message message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  if constexpr (requires { check_answer(message); }) {
    const Status checked = check_answer(message);
    if (!checked) return check_refusal(checked.error());
  }
  const Message once = to_message(message);
  require(to_message(once).SerializeAsString() == once.SerializeAsString());
}

void check_page(const uint8_t* data, size_t size) {
  v1::ListBindingsRequest message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return;
  const Result<PageRequest> page = read_page_request(message.page_size(), message.page_token());
  if (!page) check_refusal(page.error());
}

// The parts are counted before a message is parsed: an accepted one has no more than the limit, and
// a refusal is short.
template <typename Request>
bool is_few(const uint8_t* data, size_t size, Request& message) {
  const grpc::Slice slice(data, size);
  const Status few = rpc::check_parts(grpc::ByteBuffer(&slice, 1), parts_of<Request>());
  if (!few) check_refusal(few.error());
  return few && message.ParseFromArray(data, static_cast<int>(size));
}

void check_parts_of_bind(const uint8_t* data, size_t size) {
  v1::BindRequest message;
  if (is_few(data, size, message)) require(message.partitions_size() <= kMostMemberships);
}

void check_parts_of_plan(const uint8_t* data, size_t size) {
  v1::PlanRequest message;
  if (is_few(data, size, message)) require(message.partition().nodes_size() <= kMostNodePatterns);
}

using Check = void (*)(const uint8_t*, size_t);
template <typename Message, typename Value>
constexpr Check kFrom = there_and_back<Message, Value, from_message>;

// The corpus depends on the order: add new checks at the end.
constexpr std::array<Check, 25> kChecks{
    // requests
    there_and_back<v1::Partition, fabric::Partition, read_partition>,
    kFrom<v1::BindRequest, BindRequest>,
    kFrom<v1::AttachmentId, fabric::Attachment>,
    kFrom<v1::BindingFilter, BindingFilter>,
    kFrom<v1::SyncRequest, SyncRequest>,
    kFrom<v1::ObserveRequest, ObserveRequest>,
    kFrom<v1::AllocateGuidsRequest, AllocateRequest>,
    kFrom<v1::PlanRequest, PlanRequest>,
    kFrom<v1::ExplainFabricRequest, ExplainRequest>,
    check_page,
    // answers
    kFrom<v1::Partition, fabric::PartitionStatus>,
    kFrom<v1::ListPartitionsResponse, ListPage<fabric::PartitionStatus>>,
    kFrom<v1::Binding, fabric::Binding>,
    kFrom<v1::ListBindingsResponse, ListPage<fabric::Binding>>,
    kFrom<v1::BindingChange, BindingChange>,
    kFrom<v1::SyncResponse, SyncAnswer>,
    check_of<v1::ObserveResponse>,
    kFrom<v1::AllocateGuidsResponse, std::vector<AllocatedGuid>>,
    check_of<v1::FabricNode>,
    check_of<v1::ListNodesResponse>,
    sent_clean<v1::PlanResponse>,
    kFrom<v1::ExplainFabricResponse, Explanation>,
    sent_clean<v1::FabricHealthResponse>,
    // requests before they are parsed
    check_parts_of_bind,
    check_parts_of_plan,
};

}  // namespace
}  // namespace ibpod::fabricapi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod::fabricapi;
  [[maybe_unused]] static const bool silent = (ibpod::rpc::silence_grpc(), true);
  if (size > 0 && data[0] < kChecks.size()) kChecks.at(data[0])(data + 1, size - 1);
  return 0;
}
