#include "agent/prepare/derive_guids.h"

#include <set>

#include <doctest/doctest.h>

namespace ibpod::agent::prepare {
namespace {

ib::Guid guid(const char* text) { return ib::Guid::parse(text).value(); }

TEST_CASE("a VF's GUIDs show their PF and its number") {
  const ib::Guid pf = guid("0c:42:a1:03:00:12:34:56");
  const struct {
    uint32_t vf;
    const char *node, *port;
  } cases[] = {
      {0, "0e:42:a1:00:02:12:34:56", "0e:42:a1:00:03:12:34:56"},
      {1, "0e:42:a1:00:04:12:34:56", "0e:42:a1:00:05:12:34:56"},
      {127, "0e:42:a1:01:00:12:34:56", "0e:42:a1:01:01:12:34:56"},
      {253, "0e:42:a1:01:fc:12:34:56", "0e:42:a1:01:fd:12:34:56"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.vf);
    CHECK(derive_guids(pf, entry.vf).value() == node::Guids{guid(entry.node), guid(entry.port)});
  }
}

TEST_CASE("no two VFs of a node's PFs have a GUID in common, nor with a PF") {
  // Two adapters with two ports each, one of another maker with the same serial number, a test
  // bed's with another filler, and a PF whose own GUID is locally administered.
  const char* const pfs[] = {"0c:42:a1:03:00:12:34:56", "0c:42:a1:03:00:12:34:57",
                             "0c:42:a1:03:00:65:43:20", "0c:42:a1:03:00:65:43:21",
                             "b8:59:9f:03:00:12:34:56", "02:00:5e:10:00:00:00:00",
                             "02:00:5e:10:00:01:00:00", "10:70:fd:a3:00:12:34:56"};
  std::set<ib::Guid> all;
  for (const char* const pf : pfs) CHECK(all.insert(guid(pf)).second);
  for (const char* const pf : pfs) {
    for (uint32_t vf = 0; vf < kMostVfs; ++vf) {
      const node::Guids made = derive_guids(guid(pf), vf).value();
      CHECK(all.insert(made.node).second);
      CHECK(all.insert(made.port).second);
      CHECK(ib::check_allocatable(made.node));
      CHECK(ib::check_allocatable(made.port));
      CHECK((made.port.value() >> 57 & 1) == 1);
    }
  }
}

TEST_CASE("a PF without a GUID, and a VF beyond the last, have none") {
  CHECK(derive_guids(ib::Guid(), 0).error().code() == Code::invalid);
  CHECK(derive_guids(ib::kNoGuid, 0).error().code() == Code::invalid);
  CHECK(derive_guids(guid("0c:42:a1:03:00:12:34:56"), kMostVfs).error().text() ==
        "cannot derive a GUID of VF 254: limit reached (254 VFs of a PF)");
}

}  // namespace
}  // namespace ibpod::agent::prepare
