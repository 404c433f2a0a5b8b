// Values in the words of ibpodctl.
#pragma once

#include "lib/fabric/binding.h"
#include "lib/json/value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ibpod::ctl {

json::Value strings(const std::vector<std::string>& texts);
json::Value count(uint64_t number);
// `one`: an item -> json::Value.
template <typename Items, typename One>
json::Value list_of(const Items& items, One one) {
  json::Value list = json::Value::array();
  for (const auto& item : items) list.push(one(item));
  return list;
}
// "team-a/web-0"; empty where there is no pod.
std::string pod_text(const std::string& name_space, const std::string& pod);
// null for empty: it is not known. No text that is known is empty.
json::Value known(const std::string& text);
// "not known" for empty.
std::string or_unknown(const std::string& text);
// Empty for zero: there is none.
std::string text_of(ib::Guid guid);
// "2026-11-22T08:50:07Z"; empty for 1970: it has not been.
std::string text_of(fabric::WallTime time);
// "timeout: the port did not answer"; empty where nothing is the matter.
std::string text_of(const fabric::Condition& condition);

}  // namespace ibpod::ctl
