// Authorization: which role may make which call.
#pragma once

#include "lib/base/result.h"
#include "lib/fabricapi/caller.h"

#include <string>
#include <string_view>

namespace ibpod::sm::api {

enum class Call {
  create_partition,
  update_partition,
  delete_partition,
  list_partitions,
  bind,
  unbind,
  get_binding,
  list_bindings,
  watch_bindings,
  sync,
  observe,
  allocate_guids,
  list_nodes,
  forget_node,
  plan,
  explain,
  health,
};
inline constexpr size_t kCalls = static_cast<size_t>(Call::health) + 1;
std::string_view name(Call call);
// The call's name in the audit log and in metrics; empty for a call that only reads.
std::string_view action(Call call);

// True for a call that ends something or renews it: part of the limits is reserved for such calls.
bool is_reserved(Call call);

// denied if the caller's role may not make the call, or if the caller is a node and `node`, the
// subject of the request, is another node or none.
Status authorize(const fabricapi::Caller& caller, Call call, const std::string& node = {});

}  // namespace ibpod::sm::api
