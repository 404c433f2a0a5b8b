#include "agent/sm_client/lease_loop.h"

#include "agent/sm_client/test_sm_service.h"

namespace ibpod::agent {
namespace {

constexpr ib::Guid kVf{0x0200'0000'0000'0e01};

// A service whose leases are long, and a Renewal that has it asked.
struct RenewalBed : LinkBed {
  fabricapi::Client client = fabricapi::Client::over_unix(socket);
  Bindings bindings{client};
  std::unique_ptr<Renewal> renewal;

  RenewalBed() {
    link.reset();
    service.leases(Duration(3'600'000), {});
  }
  ~RenewalBed() { renewal.reset(); }
  void begin(Renewal::Pace pace) {
    renewal = std::make_unique<Renewal>(
        RenewalWorld{client, bindings, records, "n1",
                     [](const nodeapi::AttachmentName&, Bindings::Moment) { return false; },
                     [](const std::vector<ib::Guid>&) {
                       return std::vector<fabricapi::ObserveRequest::Seen>();
                     },
                     world().told},
        pace);
    renewal->set_ports({{kVf}, {}});
    REQUIRE(in_time([&] { return service.synced().vfs == std::vector{kVf}; }));
  }
  bool becomes_known() {
    return in_time([&] { return now().reached && now().unknown.empty(); });
  }
};

TEST_CASE_FIXTURE(RenewalBed, "the service is asked again soon while it does not know a VF") {
  service.knows_not({kVf});
  begin({.most = Duration(20)});
  REQUIRE(in_time([&] { return !now().unknown.empty(); }));
  service.knows_not({});
  CHECK(becomes_known());
}

TEST_CASE_FIXTURE(RenewalBed, "it is asked at once where that is asked for") {
  service.knows_not({kVf});
  begin({.most = Duration(3'600'000)});
  REQUIRE(in_time([&] { return !now().unknown.empty(); }));
  service.knows_not({});
  renewal->sync_now();
  CHECK(becomes_known());
}

}  // namespace
}  // namespace ibpod::agent
