#include "agent/sm_client/lease_loop.h"

#include "agent/sm_client/test_sm_service.h"

namespace ibpod::agent::sm_client {
namespace {

constexpr ib::Guid kVf{0x0200'0000'0000'0e01};

// A service whose leases are long, and a Renewal that has it asked.
struct LeaseLoopFixture : SmSessionFixture {
  fabricapi::Client client = fabricapi::Client::over_unix(socket);
  Bindings bindings{client};
  std::unique_ptr<LeaseLoop> lease_loop;

  LeaseLoopFixture() {
    session.reset();
    service.set_lease(Duration(3'600'000), {});
  }
  ~LeaseLoopFixture() { lease_loop.reset(); }
  void begin(LeaseLoop::Timing timing) {
    lease_loop = std::make_unique<LeaseLoop>(
        LeaseLoopDeps{client, bindings, records, "n1",
                      [](const nodeapi::AttachmentName&, Bindings::Revision) { return false; },
                      [](const std::vector<ib::Guid>&) {
                        return std::vector<fabricapi::ObserveRequest::PortTable>();
                      },
                      deps().on_status},
        timing);
    lease_loop->set_ports({{kVf}, {}});
    REQUIRE(in_time([&] { return service.synced().vfs == std::vector{kVf}; }));
  }
  bool becomes_known() {
    return in_time([&] { return now().reached && now().unknown_ports.empty(); });
  }
};

TEST_CASE_FIXTURE(LeaseLoopFixture, "the service is asked again soon while it does not know a VF") {
  service.set_unknown({kVf});
  begin({.max_pause = Duration(20)});
  REQUIRE(in_time([&] { return !now().unknown_ports.empty(); }));
  service.set_unknown({});
  CHECK(becomes_known());
}

TEST_CASE_FIXTURE(LeaseLoopFixture, "it is asked at once where that is asked for") {
  service.set_unknown({kVf});
  begin({.max_pause = Duration(3'600'000)});
  REQUIRE(in_time([&] { return !now().unknown_ports.empty(); }));
  service.set_unknown({});
  lease_loop->sync_now();
  CHECK(becomes_known());
}

}  // namespace
}  // namespace ibpod::agent::sm_client
