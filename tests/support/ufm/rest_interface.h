// RestInterface: UFM's REST interface of a UfmModel, without sockets. Its paths and bodies are
// those of NVIDIA's manual; what differs between releases is in Switches and RestSettings.
#pragma once

#include "tests/support/ufm/accounts.h"
#include "tests/support/ufm/http_message.h"
#include "tests/support/ufm/inventory.h"
#include "tests/support/ufm/jobs.h"
#include "tests/support/ufm/rest_settings.h"
#include "tests/support/ufm/ufm_model.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fake_ufm {

// The parts of a UFM, which outlive it. The model knows the ports of `inventory`.
struct Site {
  UfmModel& ufm;
  Inventory& inventory;
  Accounts& accounts;
};

class RestInterface {
 public:
  explicit RestInterface(const Site& site) : site_(site) {}

  // From any thread. Every request has an entry in the model's log.
  HttpReply handle(const HttpRequest& request);

  RestSettings settings() const;
  void set_settings(const RestSettings& settings);

 private:
  // One request, once its sender is known.
  struct Context {
    const HttpRequest& request;
    std::string user;
    std::vector<std::string> segments;  // of the path, without "/ufmRest"
    RestSettings settings;
  };
  HttpReply route(const Context& context);
  HttpReply route_app(const Context& context);
  HttpReply route_resources(const Context& context);
  HttpReply route_pkeys(const Context& context);
  HttpReply route_one_pkey(const Context& context);

  HttpReply list(const Context& context);
  HttpReply read(const Context& context, ib::PKey pkey);
  HttpReply write(const Context& context, Operation operation);
  HttpReply write(const Context& context, Call call);
  HttpReply write_hosts(const Context& context, Call call, const std::vector<std::string>& hosts);
  HttpReply last_updated(const Context& context);
  HttpReply mappings(const Context& context);
  HttpReply jobs(const Context& context);

  // The reply to a request that is not about P_Keys, if no fault of the model meets it.
  HttpReply ask(const Context& context, Operation operation, std::string body);
  HttpReply refuse(const Context& context, int status, const std::string& text);

  Site site_;
  Jobs jobs_;
  mutable std::mutex mutex_;
  RestSettings settings_;  // guarded by mutex_
};

}  // namespace ibpod::fake_ufm
