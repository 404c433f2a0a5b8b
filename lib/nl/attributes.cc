#include "lib/nl/attributes.h"

#include <algorithm>
#include <limits>

#include <netlink/attr.h>

namespace ibpod::nl {

Result<std::vector<Attribute>> attributes(Bytes bytes) {
  if (bytes.size() > std::numeric_limits<int>::max()) return Error(Code::invalid, "too long");
  std::vector<Attribute> found;
  int left = static_cast<int>(bytes.size());
  const nlattr* next = reinterpret_cast<const nlattr*>(bytes.data());
  while (left > 0) {
    if (nla_ok(next, left) == 0) {
      return Error(Code::invalid, "an attribute extends past the end of the message");
    }
    const auto* const data = static_cast<const std::byte*>(nla_data(next));
    found.push_back({nla_type(next), Bytes(data, static_cast<size_t>(nla_len(next)))});
    next = nla_next(next, &left);
  }
  return found;
}

std::string text_of(const Attribute& attribute) {
  const auto end = std::find(attribute.value.begin(), attribute.value.end(), std::byte{0});
  const auto length = static_cast<size_t>(end - attribute.value.begin());
  return std::string(reinterpret_cast<const char*>(attribute.value.data()), length);
}

}  // namespace ibpod::nl
