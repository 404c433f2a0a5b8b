// Variables: the environment of a container, from the manifests and files that set it.
#pragma once

#include "lib/base/result.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ibpod::ctl::convert {

// By name. Some values are secrets: no error of this folder quotes a value of them, and none of the
// functions below quotes any.
using Variables = std::map<std::string, std::string>;

// True for a name that the container reads.
using Known = std::function<bool(const std::string& name)>;

// Adds the variables of one input: a ConfigMap, a Secret or a List of them as JSON (as `kubectl get
// --output json` prints them), or lines of NAME=VALUE with blank lines and lines that begin with #.
// invalid, naming the line or the path in the document, if it is neither, if an object of it has no
// variable that is `known`, or if a variable has another value already. For a Secret, stringData
// takes precedence over data, as in the API server. After an error `variables` may have some of
// them.
Status add_variables(std::string_view content, const Known& known, Variables& variables);

}  // namespace ibpod::ctl::convert
