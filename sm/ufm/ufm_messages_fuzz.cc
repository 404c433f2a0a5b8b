// Any answer of a UFM is either read or refused with a reason. What is read is sorted, each value
// once and in its range, and its texts are printable and bounded.
#include "sm/ufm/messages.h"
#include "tests/support/fuzz.h"

#include <algorithm>
#include <functional>

namespace ibpod::sm::ufm {
namespace {

using fuzz::require;

constexpr size_t kMostError = 300;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void check_error(const Error& error) {
  require(error.code() == Code::unavailable);
  require(!error.text().empty() && error.text().size() <= kMostError && is_printable(error.text()));
}

void check_partition(const UfmPartition& partition) {
  require(partition.pkey.value() >= 1 && partition.pkey.value() <= 0x7fff);
  require(partition.name.size() <= 64 && is_printable(partition.name));
  const UfmMember* previous = nullptr;
  for (const UfmMember& member : partition.members) {
    require(!member.guid.none());
    require(previous == nullptr || previous->guid < member.guid);
    previous = &member;
  }
}

void check_partitions(std::string_view text) {
  const auto list = parse_partitions(text);
  if (!list) return check_error(list.error());
  const ListedPartition* previous = nullptr;
  for (const ListedPartition& listed : *list) {
    check_partition(listed.partition);
    require(listed.has_members || listed.partition.members.empty());
    require(previous == nullptr || previous->partition.pkey < listed.partition.pkey);
    previous = &listed;
  }
}

void check_single(std::string_view text) {
  const auto partition = parse_partition(text, ib::PKey(5));
  if (!partition) return check_error(partition.error());
  if (!*partition) return;
  require((*partition)->pkey == ib::PKey(5));
  check_partition(**partition);
}

void check_ports(std::string_view text) {
  const auto ports = parse_ports(text);
  if (!ports) return check_error(ports.error());
  require(std::adjacent_find(ports->begin(), ports->end(), std::greater_equal()) == ports->end());
}

void check_vports(std::string_view text) {
  const auto vports = parse_vports(text);
  if (!vports) return check_error(vports.error());
  for (const UfmVport& vport : *vports) require(!vport.guid.none() && !vport.port.none());
}

void check_groups(std::string_view text) {
  const auto id = parse_group_id(text);
  if (!id) check_error(id.error());
  const auto groups = parse_guid_groups(text);
  if (!groups) return check_error(groups.error());
  const GuidGroup* previous = nullptr;
  for (const GuidGroup& group : *groups) {
    require(previous == nullptr || previous->id < group.id);
    previous = &group;
    for (const auto* const guids : {&group.physical, &group.virtual_guids})
      require(std::adjacent_find(guids->begin(), guids->end(), std::greater_equal()) ==
              guids->end());
  }
}

void check_rest(std::string_view text) {
  const auto version = parse_version(text);
  if (version) require(version->size() <= 64 && is_printable(*version));
  if (!version) check_error(version.error());
  const auto settings = parse_settings(text);
  if (!settings) check_error(settings.error());
  const Status change = check_change(text);
  if (!change)
    require(change.error().text().size() <= kMostError && is_printable(change.error().text()));
}

}  // namespace
}  // namespace ibpod::sm::ufm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string_view text = fuzz::text_of(data, size);
  sm::ufm::check_partitions(text);
  sm::ufm::check_single(text);
  sm::ufm::check_ports(text);
  sm::ufm::check_vports(text);
  sm::ufm::check_groups(text);
  sm::ufm::check_rest(text);
  return 0;
}
