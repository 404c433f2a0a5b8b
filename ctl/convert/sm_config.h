// SmConfig: a configuration of ibpod-sm for UFM (sm.json), and the files that it names.
#pragma once

#include "ctl/convert/ib_kubernetes.h"
#include "ctl/convert/ranges.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::ctl::convert {

// The folder in which ibpod-sm reads the files below.
inline const Path kUfmFolder = "/etc/ibpod/ufm";

// A file for kUfmFolder.
struct SecretFile {
  std::string name;
  std::string content;
};

struct SmConfig {
  json::Value document;
  std::vector<SecretFile> files;  // the password, and the CA if ib-kubernetes has one
  std::vector<std::string> warnings;
};

// Without ranges of GUIDs it uses the pool of ib-kubernetes: invalid if ibpod-sm cannot use that.
Result<SmConfig> make_sm_config(const IbKubernetes& from, const Ranges& ranges);

}  // namespace ibpod::ctl::convert
