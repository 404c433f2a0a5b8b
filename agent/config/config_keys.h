// The keys of the agent's settings: what each takes, where its value goes, and whether a running
// agent can follow a change.
#pragma once

#include "agent/config/config.h"

#include <functional>
#include <string_view>
#include <vector>

namespace ibpod::agent::config {

enum class Effect {
  at_once,  // the running agent follows
  restart,  // a socket or a folder is open already: a change is refused until the next start
};

struct Key {
  std::string_view name;
  Effect effect;
  // invalid with the value's path, the value and what would be right; the Config is unchanged then.
  std::function<Status(const json::Value&, Config&)> read;
  std::function<bool(const Config&, const Config&)> same;
};

const std::vector<Key>& config_keys();
const Key* find_key(std::string_view name);

}  // namespace ibpod::agent::config
