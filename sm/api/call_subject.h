// CallSubject: the subject of a call, for authorization and the audit log.
#pragma once

#include "lib/fabricapi/calls.h"

#include <string>

namespace ibpod::sm::api {

struct CallSubject {
  std::string text = {};  // "n1/c1/net1"; empty: none
  std::string node = {};  // the node that it is about; empty: no single node
};

CallSubject subject_of(const fabric::Attachment& attachment);
CallSubject subject_of(const fabricapi::AllocateRequest& request);
inline CallSubject subject_of(const fabric::Partition& partition) { return {partition.name}; }
inline CallSubject subject_of(const std::string& partition) { return {partition}; }
inline CallSubject subject_of(const fabricapi::BindRequest& request) {
  return subject_of(request.attachment);
}
inline CallSubject subject_of(const fabricapi::BindingFilter& filter) { return {{}, filter.node}; }
inline CallSubject subject_of(const fabricapi::SyncRequest& request) {
  return {request.node, request.node};
}
inline CallSubject subject_of(const fabricapi::ObserveRequest& request) {
  return {request.node, request.node};
}
// Has no `node`, because a node must not forget itself.
inline CallSubject subject_of(const fabricapi::ForgetRequest& request) { return {request.node}; }
inline CallSubject subject_of(const fabricapi::PageRequest&) { return {}; }
inline CallSubject subject_of(const fabricapi::PlanRequest&) { return {}; }
inline CallSubject subject_of(const fabricapi::ExplainRequest&) { return {}; }
inline CallSubject subject_of(const Unit&) { return {}; }

}  // namespace ibpod::sm::api
