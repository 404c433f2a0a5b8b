// The answers of UFM's REST interface, in the forms of RestSettings.
#pragma once

#include "tests/support/ufm/http_message.h"
#include "tests/support/ufm/inventory.h"
#include "tests/support/ufm/rest_settings.h"

#include <string>
#include <vector>

namespace ibpod::fake_ufm {

// The arguments of a GET of P_Keys.
struct Shown {
  bool guids = false;
  bool qos = false;
};

// An answer with that body, or what the outcome makes of it.
HttpReply make_reply(const Outcome& outcome, std::string body);
HttpReply plain_text(int status, std::string text);

// The list of all. Without Shown::guids and Shown::qos in the form of RestSettings::plain_list.
std::string show_partitions(const Partitions& partitions, Shown shown,
                            const RestSettings& settings);
// One of them; "{}" if there is none.
std::string show_partition(const Partitions& partitions, Shown shown, const RestSettings& settings);

std::string show_version(const RestSettings& settings);
// All of GET /app/smconf, or the parameter of that name. not_found: there is none.
Result<std::string> show_smconf(const std::string& parameter, const RestSettings& settings);
// Those of a system and of a type of systems; empty: of all.
std::string show_ports(const std::vector<Port>& ports, const std::string& system,
                       const std::string& system_type, const RestSettings& settings);
// Those of a system and of a physical port; empty: of all.
std::string show_vports(const std::vector<Vport>& vports, const std::vector<Port>& ports,
                        const std::string& system, const std::string& port,
                        const RestSettings& settings);

}  // namespace ibpod::fake_ufm
