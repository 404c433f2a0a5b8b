#include "device-plugin/pool_config.h"

#include <map>
#include <utility>

namespace ibpod::device_plugin {
namespace {

using json::Value;

// Resources are unique; so should be what stands in a pod's environment.
class Names {
 public:
  Status add(const Value& object, const Pool& pool, std::vector<std::string>& warnings) {
    const auto [first, fresh] = resources_.emplace(pool.resource(), object.path());
    if (!fresh)
      return object.wrong("the resource " + pool.resource() + " is defined already, as " +
                          first->second + ": use another resourceName");
    const std::string variable = variable_of(pool.resource());
    const auto [other, alone] = variables_.emplace(variable, pool.resource());
    if (!alone)
      warnings.push_back(object.path() + ": " + pool.resource() + " and " + other->second +
                         " share the environment variable " + variable +
                         ": a container that requests both gets the value of one");
    return ok();
  }

 private:
  std::map<std::string, std::string> resources_;
  std::map<std::string, std::string> variables_;
};

}  // namespace

Result<PoolConfig> parse_pools(const Value& list, const std::string& default_prefix) {
  PoolConfig config;
  Names names;
  const std::vector<Value> objects = TRY(list.elements());
  for (const Value& object : objects) {
    Pool pool = TRY(parse_pool(object, default_prefix, config.warnings));
    TRY(names.add(object, pool, config.warnings));
    config.pools.push_back(std::move(pool));
  }
  if (config.pools.empty())
    config.warnings.push_back((list.path().empty() ? "resourceList" : list.path()) +
                              ": no pools are configured, so no devices are offered");
  for (std::string& warning : overlaps(config.pools)) config.warnings.push_back(std::move(warning));
  return config;
}

}  // namespace ibpod::device_plugin
