#include "lib/systemd/scope.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <systemd/sd-bus.h>

namespace ibpod::systemd {
namespace {

constexpr const char* kSocket = "unix:path=/run/systemd/private";

struct Unref {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, Unref>;
using Message = std::unique_ptr<sd_bus_message, Unref>;

// sd-bus returns the number of an error below 0.
Status check(int answer, std::string_view what) {
  if (answer >= 0) return ok();
  return Error::from_errno(-answer, what);
}

Result<Bus> connect() {
  sd_bus* raw = nullptr;
  TRY(check(sd_bus_new(&raw), "create a connection to systemd"));
  Bus bus(raw);
  TRY(check(sd_bus_set_address(bus.get(), kSocket), "set the address of systemd"));
  TRY(check(sd_bus_start(bus.get()), "connect to systemd, /run/systemd/private"));
  return bus;
}

// StartTransientUnit(s name, s mode, a(sv) properties, a(sa(sv)) auxiliary units): see
// org.freedesktop.systemd1(5).
Result<Message> request(const Bus& bus, const Scope& scope) {
  sd_bus_message* raw = nullptr;
  TRY(check(sd_bus_message_new_method_call(
                bus.get(), &raw, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                "org.freedesktop.systemd1.Manager", "StartTransientUnit"),
            "create a message to systemd"));
  Message message(raw);
  TRY(check(sd_bus_message_append(raw, "ssa(sv)a(sa(sv))", scope.name.c_str(), "fail", 4,  //
                                  "Description", "s", scope.description.c_str(),           //
                                  "Slice", "s", scope.slice.c_str(),                       //
                                  "CollectMode", "s", "inactive-or-failed",                //
                                  "PIDs", "au", 1, static_cast<uint32_t>(scope.pid), 0),
            "fill a message to systemd"));
  return message;
}

}  // namespace

Status start_scope(const Scope& scope, Deadline deadline) {
  const Bus bus = TRY(connect());
  const Message message = TRY(request(bus, scope));
  const auto left = std::max<int64_t>(deadline.left().count(), 1);
  sd_bus_error error{};
  const int answer =
      sd_bus_call(bus.get(), message.get(), static_cast<uint64_t>(left) * 1000, &error, nullptr);
  std::string text = error.message == nullptr ? "" : error.message;
  sd_bus_error_free(&error);
  if (answer >= 0) return ok();
  if (text.empty()) return Error::from_errno(-answer, "start " + scope.name);
  return Error(Code::unavailable, "start " + scope.name + ": " + text);
}

}  // namespace ibpod::systemd
