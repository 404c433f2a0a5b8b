#include "lib/base/files.h"
#include "sm/opensm/opensm_process.h"
#include "tests/support/run_tests.h"
#include "tests/support/temp_folder.h"

#include <filesystem>

#include <doctest/doctest.h>
#include <unistd.h>

namespace ibpod::sm::opensm {
namespace {

using namespace std::string_literals;

constexpr fabric::OpenSmOptions kOptions{true, false};
const std::string kRight =
    "allow_both_pkeys TRUE # both\nlog_file /sm/log\nforce_log_flush TRUE\n"
    "per_module_logging_file /sm/modules\n";

// A /proc with one OpenSM, process 7, whose root is a folder here; its /sm is ours.
struct Machine {
  TempFolder folder;
  Path proc = folder.path() / "proc";
  Path root = folder.path() / "root";
  Path ours = folder.path() / "sm/partitions.conf";
  Path program = folder.path() / "opensm";
  Processes processes{proc};

  Machine() {
    for (const char* name : {"proc/7", "proc/8", "proc/self", "root/etc/opensm", "sm"})
      std::filesystem::create_directories(folder.path() / name);
    std::filesystem::create_directory_symlink(root, proc / "7/root");
    std::filesystem::create_directory_symlink(root / "etc", proc / "7/cwd");
    std::filesystem::create_directory_symlink(folder.path() / "sm", root / "sm");
    words("bash\0-F\0/c\0"s, "8");
    folder.write("opensm", "");
    folder.write("other", "");
    for (const char* process : {"7", "8", "self"}) {
      std::filesystem::create_directory(proc / process / "ns");
      std::filesystem::create_symlink(folder.path() / "sm", proc / process / "ns/pid");
    }
    execute(program);
    folder.write("sm/modules", "# ours\nosm_state_mgr.c 0x07\n");
  }
  void execute(const Path& file) const {
    std::filesystem::remove(proc / "7/exe");
    std::filesystem::create_symlink(file, proc / "7/exe");
  }
  std::optional<pid_t> find(const Path& conf = "/c") const {
    return processes.find_opensm(conf, program).value();
  }
  void words(const std::string& text, const std::string& pid = "7") const {
    folder.write("proc/" + pid + "/cmdline", text);
  }
  Status check() const {
    return processes.check_opensm(7, {ours, folder.path() / "sm/log", kOptions, program});
  }
  void configure(const std::string& text) const {
    folder.write("root/etc/opensm/opensm.conf", text);
  }
  std::string refusal() const { return check().error().text(); }
};

TEST_CASE("the OpenSM of a configuration file is found by its command line") {
  const Machine machine;
  for (const std::string& text :
       {"/usr/sbin/opensm\0-F\0/c\0"s, "opensm\0-g\0000x1\0--config\0/c\0"s, "opensm\0-F/c\0"s,
        "opensm\0--config=/c"s}) {
    machine.words(text);
    CHECK(machine.find() == 7);
    CHECK_FALSE(machine.find("/d"));
  }
  machine.words("");
  CHECK_FALSE(machine.find());
}

TEST_CASE("a process that only calls itself OpenSM is none") {
  const Machine machine;
  machine.words("opensm\0-F\0/c\0"s);
  REQUIRE(machine.find() == 7);
  SUBCASE("it executes something else") {
    machine.execute(machine.folder.path() / "other");
    CHECK(machine.refusal().find("process 7 is named opensm but executes " +
                                 (machine.folder.path() / "other").string()) == 0);
  }
  SUBCASE("it is in a container") {
    std::filesystem::remove(machine.proc / "7/ns/pid");
    std::filesystem::create_symlink(machine.root, machine.proc / "7/ns/pid");
    CHECK(machine.refusal().find("another PID namespace") != std::string::npos);
  }
  SUBCASE("it executes what others can write, for a script") {
    machine.folder.write("opensm", "#!/bin/sh\n");
    const Path other = machine.folder.path() / "other";
    machine.execute(other);
    CHECK(machine.find() == 7);
    std::filesystem::permissions(other, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    CHECK(machine.refusal().find("which other users cannot write") != std::string::npos);
  }
  SUBCASE("it is another user's") {
    if (!root_can("change the owner of a file")) return;
    REQUIRE(::chown((machine.proc / "7").c_str(), 65534, 65534) == 0);
    CHECK(machine.refusal() == "process 7 is named opensm but does not run as root");
  }
  CHECK_FALSE(machine.find());
}

TEST_CASE("an OpenSM whose program has been upgraded since, or is a script, is found") {
  const Machine machine;
  machine.words("opensm\0-F\0/c\0"s);
  machine.execute(machine.program.native() + " (deleted)");
  CHECK(machine.find() == 7);
  machine.execute("/bin/sh");
  CHECK_FALSE(machine.find());
  machine.folder.write("opensm", "#!/bin/sh\n");
  CHECK(machine.find() == 7);
}

TEST_CASE("an OpenSM that takes its partitions from our file, however it is told, will do") {
  const Machine machine;
  machine.words("opensm\0-F\0/etc/mine.conf\0"s);
  machine.folder.write(
      "root/etc/mine.conf",
      "partition_config_file /no\n partition_config_file\t/sm/partitions.conf\n" + kRight);
  CHECK(machine.check());
  machine.words("opensm\0-F\0mine.conf\0"s);
  CHECK(machine.check());
  machine.words("opensm\0-P\0/sm/partitions.conf\0"s);
  machine.configure(kRight);
  CHECK(machine.check());
}

TEST_CASE("what runs on another file, or reads ours otherwise, or is no OpenSM, is refused") {
  const Machine machine;
  machine.words("opensm\0"s);
  CHECK(machine.refusal().find("/etc/opensm/partitions.conf") != std::string::npos);
  machine.configure("#partition_config_file /sm/partitions.conf\n");
  CHECK(machine.refusal().find("reads its partitions from") != std::string::npos);
  const std::string file = "partition_config_file /sm/partitions.conf\n";
  machine.configure(file);
  CHECK(machine.refusal().find("writes its log to /var/log/opensm.log") != std::string::npos);
  // A wrong option, and the required one.
  const std::pair<const char*, const char*> wrong[] = {
      {"allow_both_pkeys FALSE", "allow_both_pkeys TRUE"},
      {"qos TRUE", "qos FALSE"},
      {"keep_pkey_indexes FALSE", "keep_pkey_indexes TRUE"},
      {"part_enforce off", "part_enforce both"},
      {"no_partition_enforcement TRUE", "no_partition_enforcement FALSE"},
      {"log_flags 0x01", "log_flags 0x03"},
      {"force_log_flush FALSE", "force_log_flush TRUE"},
      {"log_file /etc/log", "writes its log to /etc/log"},
      {"per_module_logging_file /sm/none", "osm_state_mgr.c 0x07"},
  };
  machine.configure(file + kRight + "part_enforce out\nlog_flags 0x83\n");
  CHECK(machine.check());
  for (const auto& [option, text] : wrong) {
    CAPTURE(option);
    machine.configure(file + kRight + option + "\n");
    CHECK(machine.refusal().find(text) != std::string::npos);
  }
  machine.configure(file + kRight);
  machine.folder.write("sm/modules", "osm_state_mgr.c 0x03\n");
  CHECK(machine.refusal().find("0x07\" to its per_module_logging_file, /sm/modules") !=
        std::string::npos);
  machine.folder.write("sm/modules", "");
  CHECK(!machine.check());
  machine.configure(file + kRight + "log_flags 0x07\n");
  CHECK(machine.check());
  for (const auto& word :
       {"-N\0"s, "-Z\0off\0"s, "-Q\0"s, "--log_file\0/etc/log\0"s, "-D\0000x3\0"s}) {
    machine.words("opensm\0"s + word);
    CHECK(!machine.check());
  }
  machine.words("sleep\0");
  CHECK(machine.refusal().find("is not OpenSM") != std::string::npos);
  std::filesystem::remove_all(machine.proc / "7");
  CHECK(machine.check().error().code() == Code::not_found);
}

TEST_CASE("a pid file holds a number, and only its owner can write it") {
  TempFolder folder;
  const Path open = folder.write("open", "123\n");
  std::filesystem::permissions(open, std::filesystem::perms(0666));
  CHECK(read_pid_file(open).error().code() == Code::denied);
  CHECK(read_pid_file(folder.write("pid", "123\n")).value() == 123);
  for (const char* wrong : {"", "\n", "x", "12x", "-1", "0", "99999999999"})
    CHECK(read_pid_file(folder.write("pid", wrong)).error().code() == Code::invalid);
  CHECK(read_pid_file(folder.path() / "none").error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod::sm::opensm
