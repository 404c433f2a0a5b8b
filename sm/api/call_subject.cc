#include "sm/api/call_subject.h"

namespace ibpod::sm::api {

CallSubject subject_of(const fabric::Attachment& attachment) {
  return {text(attachment), attachment.node};
}

CallSubject subject_of(const fabricapi::AllocateRequest& request) {
  return {request.node + "/" + request.pf, request.node};
}

}  // namespace ibpod::sm::api
