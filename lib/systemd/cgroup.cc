#include "lib/systemd/cgroup.h"

#include <charconv>

namespace ibpod::systemd {
namespace {

constexpr std::string_view kService = ".service";
constexpr std::string_view kSlice = ".slice";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<std::string> cgroup_of(pid_t pid, const Path& proc) {
  const std::string text = TRY(read_file(proc / std::to_string(pid) / "cgroup", 64 << 10));
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with("0::")) continue;
    line.remove_prefix(3);
    return std::string(line);
  }
  return Error(Code::unsupported,
               "process " + std::to_string(pid) + " is not in a cgroup of version 2");
}

bool is_within(std::string_view inner, std::string_view outer) {
  if (outer == "/") return true;
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

std::optional<ServiceUnit> service_of(std::string_view cgroup) {
  const std::string_view name = last_part(cgroup);
  if (!name.ends_with(kService) || name.size() == kService.size()) return std::nullopt;
  const std::string_view above = cgroup.substr(0, cgroup.size() - name.size());
  const std::string_view slice = last_part(above.substr(0, above.size() - 1));
  return ServiceUnit{std::string(name),
                     slice.ends_with(kSlice) ? std::string(slice) : std::string("-.slice")};
}

std::optional<uint64_t> memory_limit(const std::string& cgroup, const Path& mount) {
  const auto text = read_file(mount / Path(cgroup).relative_path() / "memory.max", 64);
  if (!text) return std::nullopt;
  uint64_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc()) return std::nullopt;  // "max"
  return limit;
}

}  // namespace ibpod::systemd
