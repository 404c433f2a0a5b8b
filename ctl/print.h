// The output of ibpodctl: tables for people, JSON for programs.
#pragma once

#include "api/ibpod/v1/node.pb.h"
#include "ctl/doctor.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

std::string as_table(const v1::ListDevicesResponse& devices);
std::string as_table(const v1::ListAttachmentsResponse& attachments);
std::string as_text(const v1::ExplainResponse& explanation);
// Only what is not fine, unless `all`.
std::string as_text(const std::vector<Finding>& findings, bool all);

json::Value as_json(const v1::Device& device);
json::Value as_json(const v1::Attachment& attachment);
json::Value as_json(const v1::ExplainResponse& explanation);
json::Value as_json(const Finding& finding);
json::Value as_json(const v1::ListDevicesResponse& devices);
json::Value as_json(const v1::ListAttachmentsResponse& attachments);
json::Value as_json(const std::vector<Finding>& findings);

}  // namespace ibpod::ctl
