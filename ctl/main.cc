#include "ctl/connect.h"
#include "ctl/session.h"
#include "lib/base/process.h"
#include "lib/nodeapi/client.h"
#include "lib/rpc/grpc_log.h"

#include <iostream>

int main(int argc, char** argv) {
  ibpod::forbid_core_dumps();
  ibpod::rpc::silence_grpc();
  ibpod::ctl::Session session;
  session.connect = ibpod::ctl::connect;
  session.agent = ibpod::nodeapi::connect;
  const ibpod::ctl::Outcome outcome = ibpod::ctl::run({argv + 1, argv + argc}, session);
  std::cout << outcome.out << std::flush;
  std::cerr << outcome.err;
  return outcome.exit;
}
