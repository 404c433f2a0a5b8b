#include "lib/rpc/status.h"

#include <array>

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

TEST_CASE("each code has one status code, and comes back from it") {
  using grpc::StatusCode;
  struct Case {
    Code code;
    StatusCode on_the_wire;
  };
  constexpr std::array kCases{Case{Code::invalid, StatusCode::INVALID_ARGUMENT},
                              Case{Code::not_found, StatusCode::NOT_FOUND},
                              Case{Code::exists, StatusCode::ALREADY_EXISTS},
                              Case{Code::busy, StatusCode::ABORTED},
                              Case{Code::unsupported, StatusCode::UNIMPLEMENTED},
                              Case{Code::denied, StatusCode::PERMISSION_DENIED},
                              Case{Code::unavailable, StatusCode::UNAVAILABLE},
                              Case{Code::internal, StatusCode::INTERNAL}};
  for (const auto& [code, on_the_wire] : kCases) {
    CAPTURE(name(code));
    const grpc::Status sent = to_grpc(Error(code, "why"));
    CHECK(sent.error_code() == on_the_wire);
    const Status back = from_grpc(sent);
    CHECK(back.error().code() == code);
    CHECK(back.error().text() == "why");
    CHECK(back.error().details().empty());
  }
  CHECK(from_grpc(grpc::Status::OK));
}

TEST_CASE("what others answer is understood as well as it can be") {
  using grpc::StatusCode;
  struct Case {
    StatusCode on_the_wire;
    Code code;
  };
  constexpr std::array kCases{Case{StatusCode::CANCELLED, Code::unavailable},
                              Case{StatusCode::UNKNOWN, Code::internal},
                              Case{StatusCode::DEADLINE_EXCEEDED, Code::unavailable},
                              Case{StatusCode::RESOURCE_EXHAUSTED, Code::unavailable},
                              Case{StatusCode::FAILED_PRECONDITION, Code::internal},
                              Case{StatusCode::OUT_OF_RANGE, Code::invalid},
                              Case{StatusCode::DATA_LOSS, Code::internal},
                              Case{StatusCode::UNAUTHENTICATED, Code::denied}};
  for (const auto& [on_the_wire, code] : kCases) {
    CAPTURE(on_the_wire);
    CHECK(from_grpc(grpc::Status(on_the_wire, "x")).error().code() == code);
  }
  CHECK(from_grpc(grpc::Status(StatusCode::UNKNOWN, "")).error().text() ==
        "no reason given (gRPC code 2)");
}

TEST_CASE("details travel behind the text, and neither is longer than a header may be") {
  const auto back =
      from_grpc(to_grpc(Error(Code::busy, "why").with_details("table\nof two lines")));
  CHECK(back.error().text() == "why");
  CHECK(back.error().details() == "table\nof two lines");
  CHECK(to_grpc(Error(Code::busy, std::string(9000, 'x'))).error_message().size() == 2000);
}

TEST_CASE("why a name is not resolved is said once, without the resolver's words") {
  const auto told = [](const std::string& text) {
    return from_grpc(grpc::Status(grpc::StatusCode::UNAVAILABLE, text)).error().text();
  };
  const std::string begin = "DNS resolution failed for sm:7473: ";
  const std::string a = "C-ares status is not ARES_SUCCESS qtype=A name=sm is_balancer=0: ";
  const std::string aaaa = "C-ares status is not ARES_SUCCESS qtype=AAAA name=sm is_balancer=0: ";
  CHECK(told(begin + a + "Domain name not found") == begin + "Domain name not found");
  CHECK(told(begin + a + "Could not contact DNS servers; " + aaaa +
             "Could not contact DNS servers") == begin + "Could not contact DNS servers");
  CHECK(told(begin + a + "no A, " + aaaa + "no AAAA") == begin + "no A; no AAAA");
  CHECK(told("failed to connect") == "failed to connect");
}

TEST_CASE("an answer that is no TLS is told as that") {
  const auto error =
      from_grpc(grpc::Status(grpc::StatusCode::UNAVAILABLE, "SSL routines::wrong version number"))
          .error();
  CHECK(error.text() ==
        "SSL routines::wrong version number: the server at that port does not speak TLS; check the "
        "address and the port");
}

}  // namespace
}  // namespace ibpod::rpc
