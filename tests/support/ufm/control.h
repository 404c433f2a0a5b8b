// The control path of fake_ufm, for tests that are other processes. Bodies and answers are JSON:
//   GET  /stand-in/switches      PUT: those of the body
//   GET  /stand-in/rest          PUT: those of the body
//   POST /stand-in/faults        {"kind": "refuse", "operations": ["post"], "status": 503}
//   DELETE /stand-in/faults
//   POST /stand-in/calls         {"operation": "post", "pkey": "0x5", "guids": [...]}: does this as
//                                another administrator; answers {"status": 200, "text": ""}
//   POST /stand-in/lose_writes   {"count": 2}: a failover loses the last changes
//   GET  /stand-in/partitions
//   GET  /stand-in/log           ?since=N: without the first N entries. DELETE: forgets all
//   PUT  /stand-in/effect        {"delay": 500} in milliseconds, or {"delay": "never"}
//   PUT  /stand-in/ports         a list. Likewise /stand-in/vports
//   PUT  /stand-in/virtualization  {"on": true, "interval_ms": 60000}
//   PUT  /stand-in/serving       {"on": false}: no client can connect
//   PUT  /stand-in/certificate   the paths of "certificate", "key" and "client_ca"
//   POST /stand-in/expire_tokens
#pragma once

#include "tests/support/ufm/fake_ufm.h"

namespace ibpod::fake_ufm {

// 400 with the reason for a body that is wrong, 404 for another path.
HttpReply control(FakeUfm& ufm, const HttpRequest& request);

}  // namespace ibpod::fake_ufm
