// The output of ibpodctl: tables for people, JSON for programs.
#pragma once

#include "ctl/doctor.h"
#include "lib/json/value.h"
#include "lib/nodeapi/node.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

std::string as_table(const std::vector<nodeapi::Device>& devices);
std::string as_table(const std::vector<nodeapi::Attachment>& attachments);
std::string as_text(const nodeapi::Explanation& explanation);
// Only what is not fine, unless `all`.
std::string as_text(const std::vector<Finding>& findings, bool all);

json::Value as_json(const nodeapi::Device& device);
json::Value as_json(const nodeapi::Attachment& attachment);
json::Value as_json(const nodeapi::Explanation& explanation);
json::Value as_json(const Finding& finding);
json::Value as_json(const std::vector<nodeapi::Device>& devices);
json::Value as_json(const std::vector<nodeapi::Attachment>& attachments);
json::Value as_json(const std::vector<Finding>& findings);

}  // namespace ibpod::ctl
