#include "tests/support/ufm/partitions_writer.h"

#include "tests/support/temp_folder.h"
#include "tests/support/ufm/partitions_text.h"

#include <csignal>

#include <doctest/doctest.h>
#include <sys/signalfd.h>

namespace ibpod::fake_ufm {
namespace {

Deadline soon() { return Deadline::in(std::chrono::seconds(20)); }

Call post(uint64_t guid, ib::PKey pkey = ib::PKey(5)) {
  return {.operation = Operation::post, .pkey = pkey, .guids = {ib::Guid(guid)}};
}

TEST_CASE("partitions.conf: members with index 0 have a definition of their own") {
  Partitions partitions;
  partitions[kManagement] = Partition{"management"};
  partitions[ib::PKey(5)] = {"a b;c",
                             true,
                             {},
                             {{ib::Guid(0xa), {ib::Membership::limited, false}},
                              {ib::Guid(0xb), {ib::Membership::full, true}},
                              {ib::Guid(0xc), {ib::Membership::full, false}}}};
  partitions[ib::PKey(6)] = {"empty", false};
  partitions[ib::PKey(7)] = {"plain", false, {}, {{ib::Guid(0xa), {}}}};
  CHECK(partitions_text(partitions, ib::Membership::limited) ==
        "management=0x7fff, ipoib, defmember=limited : ALL=limited, ALL_SWITCHES=full, SELF=full;\n"
        "a_b_c=0x0005, ipoib :\n  0x000000000000000a=limited,\n  0x000000000000000c=full;\n"
        "a_b_c_index0=0x0005, ipoib, indx0 :\n  0x000000000000000b=full;\n"
        "plain=0x0007 :\n  0x000000000000000a=full;\n");
  partitions[kManagement].members[ib::Guid(0xa)] = {};
  CHECK(partitions_text(partitions, ib::Membership::full)
            .starts_with("management=0x7fff, ipoib, defmember=full : ALL=full, ALL_SWITCHES=full, "
                         "SELF=full,\n  0x000000000000000a=full;\n"));
}

// The process of the test stands for OpenSM.
class Fixture {
 public:
  Fixture() {
    sigset_t hang_up;
    sigemptyset(&hang_up);
    sigaddset(&hang_up, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &hang_up, nullptr);
    signals = Fd(::signalfd(-1, &hang_up, SFD_CLOEXEC | SFD_NONBLOCK));
    folder.write("pid", std::to_string(::getpid()) + "\n");
  }
  void start(EffectDelay delay) {
    writer = PartitionsWriter::start(ufm, {folder.path() / "conf", folder.path() / "pid"}, delay,
                                     ib::Membership::limited)
                 .value();
  }
  bool has_member(const std::string& guid) {
    return read_file(folder.path() / "conf").value().find(guid) != std::string::npos;
  }
  bool was_hung_up() {
    signalfd_siginfo signal{};
    return ::read(signals.get(), &signal, sizeof signal) == sizeof signal;
  }

  UfmModel ufm;
  TempFolder folder;
  Fd signals;
  std::unique_ptr<PartitionsWriter> writer;
};

TEST_CASE_FIXTURE(Fixture, "a change is in the file after the delay, and OpenSM is asked to read") {
  start(Duration(30));
  CHECK(has_member("ALL=limited"));
  CHECK(was_hung_up());
  const auto begin = Deadline::Clock::now();
  REQUIRE(ufm.call(post(0xab)).ok());
  CHECK(writer->wait_written(ufm.generation(), soon()));
  CHECK(Deadline::Clock::now() - begin >= Duration(30));
  CHECK(has_member("0x00000000000000ab=full"));
  writer->set_default_membership(ib::Membership::full);
  REQUIRE(ufm.call({.operation = Operation::delete_partition, .pkey = ib::PKey(5)}).ok());
  CHECK(writer->wait_written(ufm.generation(), soon()));
  CHECK_FALSE(has_member("0x00000000000000ab"));
  CHECK(has_member("ALL=full"));
  writer.reset();
  CHECK(was_hung_up());
}

TEST_CASE_FIXTURE(Fixture, "never: stored and not in force, until that changes") {
  start(std::nullopt);
  CHECK(was_hung_up());
  REQUIRE(ufm.call(post(0xab)).ok());
  CHECK_FALSE(writer->wait_written(ufm.generation(), Deadline::in(Duration(50))));
  CHECK_FALSE(has_member("0x00000000000000ab"));
  CHECK_FALSE(was_hung_up());
  writer->set_delay(Duration(0));
  CHECK(writer->wait_written(ufm.generation(), soon()));
  CHECK(has_member("0x00000000000000ab"));
}

TEST_CASE_FIXTURE(Fixture, "no OpenSM yet, one that has gone, and a folder that has") {
  folder.write("pid", "");
  CHECK_FALSE(PartitionsWriter::start(ufm, {folder.path() / "conf", folder.path() / "pid"},
                                      Duration(0), ib::Membership::limited));
  std::filesystem::remove(folder.path() / "pid");
  start(Duration(0));
  REQUIRE(ufm.call(post(0xab)).ok());
  CHECK(writer->wait_written(ufm.generation(), soon()));
  CHECK(writer->status());
  writer.reset();
  CHECK_FALSE(PartitionsWriter::start(ufm, {folder.path() / "nowhere/conf", ""}, Duration(0),
                                      ib::Membership::limited));
  REQUIRE(ufm.call(post(0xac)).ok());  // no writer listens any more
}

}  // namespace
}  // namespace ibpod::fake_ufm
