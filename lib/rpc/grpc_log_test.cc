#include "lib/rpc/grpc_log.h"

#include "lib/base/fd.h"
#include "lib/rpc/test_echo.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grpc/support/log.h>

namespace ibpod::rpc {
namespace {

// As it comes from the wire.
void read_bad_utf8() {
  echo::Words words;
  CHECK_FALSE(words.ParseFromString("\x0a\x01\xff"));
}

TEST_CASE("once gRPC is silenced neither it nor protobuf writes a line") {
  const TempFolder folder;
  const Path path = folder.write("stderr", "");
  const Fd before(::dup(STDERR_FILENO));
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(::dup2(file.get(), STDERR_FILENO) >= 0);
  gpr_set_log_function(nullptr);
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_log(GPR_ERROR, "said");
  silence_grpc();
  gpr_log(GPR_ERROR, "swallowed");
  read_bad_utf8();
  ::dup2(before.get(), STDERR_FILENO);
  const std::string text = read_file(path).value();
  CHECK(text.find("said") != std::string::npos);
  CHECK(text.find("swallowed") == std::string::npos);
  CHECK(text.find("UTF-8") == std::string::npos);
}

}  // namespace
}  // namespace ibpod::rpc
