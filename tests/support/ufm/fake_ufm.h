// FakeUfm: a whole UFM of a site: its state, its REST interface with and without TLS, the file of
// its OpenSM, and a control path, on which tests that are other processes set switches and faults.
#pragma once

#include "tests/support/ufm/config.h"
#include "tests/support/ufm/http_server.h"
#include "tests/support/ufm/rest_interface.h"

#include <memory>
#include <mutex>
#include <optional>

namespace ibpod::fake_ufm {

class FakeUfm {
 public:
  static Result<std::unique_ptr<FakeUfm>> start(const Config& config);
  ~FakeUfm();
  FakeUfm(const FakeUfm&) = delete;
  FakeUfm& operator=(const FakeUfm&) = delete;

  UfmModel& ufm() { return ufm_; }
  Inventory& inventory() { return inventory_; }
  Accounts& accounts() { return accounts_; }
  RestInterface& rest() { return rest_; }
  // Null if the configuration names no partitions_file.
  PartitionsWriter* writer() { return writer_.get(); }

  // With the ports that the kernel chose. Empty: it does not listen there.
  const std::optional<http::Address>& tls_address() const { return tls_.address; }
  const std::optional<http::Address>& plain_address() const { return plain_.address; }
  const std::optional<http::Address>& control_address() const { return control_.address; }

  // As a UFM that restarts: no client can connect, and those that are connected are cut off.
  void stop_serving();
  // At the same addresses. ok if it serves already.
  Status serve();
  // invalid if the texts are damaged; the old certificate stays then.
  Status change_certificate(const TlsFiles& files);

 private:
  struct Endpoint {
    std::optional<http::Address> address;  // empty: there is none
    std::unique_ptr<HttpServer> server;    // null: it does not serve
  };
  FakeUfm();
  void set_up(const Config& config);
  static Status serve(Endpoint& endpoint, const TlsContext& tls, const HttpHandler& handler);

  UfmModel ufm_;
  Inventory inventory_;
  Accounts accounts_;
  RestInterface rest_;
  std::unique_ptr<PartitionsWriter> writer_;
  std::mutex mutex_;
  TlsContext context_;  // guarded by mutex_, as the next two
  Endpoint tls_, plain_;
  Endpoint control_;
};

}  // namespace ibpod::fake_ufm
