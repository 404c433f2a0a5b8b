#include "sm/opensm/opensm_conf.h"

#include "sm/opensm/key_file.h"
#include "tests/support/temp_folder.h"

#include <sstream>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

const OpenSmPaths kPaths("/var/lib/ibpod/sm");

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("opensm.conf has what the engine and the partitions need") {
  OpenSmSettings settings;
  settings.port = ib::Guid(0x0002c90300001234);
  settings.priority = 7;
  const std::string text = render_opensm_conf(settings, kPaths).value();
  for (const char* line :
       {"guid 0x0002c90300001234", "partition_config_file /var/lib/ibpod/sm/partitions.conf",
        "allow_both_pkeys FALSE", "keep_pkey_indexes TRUE", "part_enforce both", "qos FALSE",
        "log_file /var/lib/ibpod/sm/opensm.log", "log_flags 0x03", "force_log_flush TRUE",
        "per_module_logging_file /var/lib/ibpod/sm/modules.conf", "sm_priority 7",
        "max_wire_smps 16", "sminfo_polling_timeout 1000", "polling_retry_number 2",
        "use_ucast_cache TRUE", "m_key_protection_level 0"}) {
    CAPTURE(line);
    CHECK(has(text, line));
  }
  CHECK(text.find("m_key 0x") == std::string::npos);
  CHECK_FALSE(options_of(settings).allow_both_pkeys);
}

TEST_CASE("keys come from files, and no refusal quotes one") {
  TempFolder folder;
  OpenSmSettings settings;
  settings.m_key_protection = 2;
  settings.keys.m_key = folder.write("m", "0xABCD\n");
  settings.keys.sm_key = folder.write("s", " 0x0123456789abcdef ");
  const std::string text = render_opensm_conf(settings, kPaths).value();
  CHECK(has(text, "m_key 0x000000000000abcd"));
  CHECK(has(text, "sm_key 0x0123456789abcdef"));
  CHECK(has(text, "m_key_protection_level 2"));
  for (const char* wrong :
       {"", "secret", "0x", "0x0123456789abcdef0", "0x12 34", "0x12\nsweep 0"}) {
    CAPTURE(wrong);
    folder.write("m", wrong);
    const Error error = render_opensm_conf(settings, kPaths).error();
    CHECK(error.code() == Code::invalid);
    CHECK((std::string_view(wrong).size() < 3 || error.text().find(wrong) == std::string::npos));
    CHECK(error.text().find("m_key") != std::string::npos);
  }
  settings.keys.m_key = folder.path() / "none";
  CHECK(render_opensm_conf(settings, kPaths).error().code() == Code::not_found);
}

TEST_CASE("a key file that others can read is refused, with the command that mends it") {
  const TempFolder folder;
  for (Path KeyFiles::*key : {&KeyFiles::m_key, &KeyFiles::sm_key, &KeyFiles::sa_key}) {
    OpenSmSettings settings;
    settings.keys.*key = folder.write("key", "0x0123456789abcdef");
    CHECK(render_opensm_conf(settings, kPaths));
    std::filesystem::permissions(
        folder.path() / "key",
        std::filesystem::perms::group_read | std::filesystem::perms::others_read,
        std::filesystem::perm_options::add);
    const auto conf = render_opensm_conf(settings, kPaths);
    REQUIRE_FALSE(conf);
    CHECK(conf.error().code() == Code::denied);
    CHECK(conf.error().text().find("run chmod 0600 " + folder.path().string()) !=
          std::string::npos);
  }
}

TEST_CASE("a key that others can read is read and reported; one that they can write is refused") {
  const TempFolder folder;
  const Path key = folder.write("key", "0x0123456789abcdef\n");
  const auto set_mode = [&](unsigned mode) {
    std::filesystem::permissions(key, static_cast<std::filesystem::perms>(mode));
  };
  set_mode(0600);
  CHECK(read_open_key_file(key)->key == 0x0123456789abcdef);
  CHECK(read_open_key_file(key)->file);
  set_mode(0644);
  CHECK(read_open_key_file(key)->key == 0x0123456789abcdef);
  CHECK(read_open_key_file(key)->file.error().text().find("has mode 0644") != std::string::npos);
  set_mode(0666);
  CHECK(read_open_key_file(key).error().code() == Code::denied);
  CHECK(read_open_key_file(folder.path() / "none").error().code() == Code::not_found);
}

TEST_CASE("options that others can write are refused: one of them may name a library to load") {
  const TempFolder folder;
  OpenSmSettings settings;
  settings.more = folder.write("more", "lmc 1\n");
  CHECK(render_opensm_conf(settings, kPaths));
  std::filesystem::permissions(settings.more, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const auto conf = render_opensm_conf(settings, kPaths);
  REQUIRE_FALSE(conf);
  CHECK(conf.error().text().starts_with("opensm.moreOptionsFile: "));
}

TEST_CASE("OpenSM's default key is refused") {
  TempFolder folder;
  const auto refusal = [&](Path KeyFiles::*key, const char* text) {
    OpenSmSettings settings;
    settings.keys.*key = folder.write("key", text);
    const auto conf = render_opensm_conf(settings, kPaths);
    return conf ? std::string() : conf.error().text();
  };
  CHECK(refusal(&KeyFiles::m_key, "0x0").find("choose another m_key") != std::string::npos);
  CHECK(refusal(&KeyFiles::m_key, "0x1") == "");
  for (const char* known : {"0x0", "0x0000000000000001"}) {
    CHECK(refusal(&KeyFiles::sm_key, known).find("choose another sm_key") != std::string::npos);
    CHECK(refusal(&KeyFiles::sa_key, known).find("choose another sa_key") != std::string::npos);
  }
  CHECK(refusal(&KeyFiles::sm_key, "0x100000000000000") == "");
}

TEST_CASE("the administrator's options come last, but none that ibpod has to have its own way") {
  TempFolder folder;
  OpenSmSettings settings;
  settings.more = folder.write("more", "# mine\nrouting_engine ftree\n\n sweep_interval 20 \r");
  const std::string text = render_opensm_conf(settings, kPaths).value();
  CHECK(text.ends_with("\nrouting_engine ftree\n\nsweep_interval 20\n"));
  for (const std::string& wrong :
       {std::string("partition_config_file /x\n"), std::string("x 1\n\tlog_flags\t0xff\n"),
        std::string("allow_both_pkeys"), "x " + std::string(1000, 'y'), std::string("m_key 0x5"),
        std::string("sm_key 0x5"), std::string("sa_key 0x5"), std::string("guid 0x5"),
        std::string("m_key_protection_level 0"), std::string("qos\rTRUE"),
        std::string("m_key\0 x", 8)}) {
    folder.write("more", wrong);
    CHECK(render_opensm_conf(settings, kPaths).error().code() == Code::invalid);
  }
}

// The user brings the opensm.conf of an existing OpenSM.
TEST_CASE("one error names all options to remove, and the rest is accepted") {
  TempFolder folder;
  OpenSmSettings settings;
  const std::string text =
      "# The distribution's\nguid 0x0\nlmc 0\nlog_file /var/log/opensm.log\n"
      "\nqos FALSE\nm_key 0x5\ndaemon FALSE\nsl2vl_file (null)\n";
  settings.more = folder.write("more", text);
  const Status refused = check_more_options(settings.more);
  REQUIRE_FALSE(refused);
  const std::string message = refused.error().text();
  CHECK(message ==
        "opensm.moreOptionsFile: " + settings.more.string() +
            ": remove line 2: guid: set opensm.port in ibpod-sm's configuration instead; line 4: "
            "log_file: only ibpod-sm sets it; line 6: qos: set opensm.qos in ibpod-sm's "
            "configuration instead; line 7: m_key: set opensm.mKeyFile in ibpod-sm's configuration "
            "instead; line 8: daemon: only ibpod-sm sets it");
  CHECK(message.find("0x5") == message.npos);
  std::string left;
  std::istringstream lines(text);
  std::string one;
  for (int number = 1; std::getline(lines, one); ++number)
    if (message.find("line " + std::to_string(number) + ":") == message.npos) left += one + "\n";
  folder.write("more", left);
  CHECK(check_more_options(settings.more));
  CHECK(render_opensm_conf(settings, kPaths));
}

TEST_CASE("numbers that OpenSM would not take, and paths that it would cut, are refused") {
  const auto refused = [](void (*change)(OpenSmSettings&)) {
    OpenSmSettings settings;
    change(settings);
    return render_opensm_conf(settings, kPaths).error().code() == Code::invalid;
  };
  CHECK(refused([](OpenSmSettings& settings) { settings.priority = 16; }));
  CHECK(refused([](OpenSmSettings& settings) { settings.max_wire_smps = 0; }));
  CHECK(refused([](OpenSmSettings& settings) { settings.m_key_protection = 4; }));
  CHECK(refused([](OpenSmSettings& settings) { settings.m_key_protection = 1; }));  // no key
  CHECK(refused([](OpenSmSettings& settings) { settings.polling_timeout = 0; }));
  for (const char* folder : {"relative", "/a b", "/a#b"})
    CHECK(render_opensm_conf({}, OpenSmPaths(folder)).error().code() == Code::invalid);
}

}  // namespace
}  // namespace ibpod::sm::opensm
