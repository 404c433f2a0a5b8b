// Any content of OpenSM's log and options and of the administrator's files. Parts, with byte 0x1e
// between them: a command line (one word per line), opensm.conf, its modules; the first is used as
// a log, too.
#include "sm/opensm/key_file.h"
#include "sm/opensm/opensm_conf.h"
#include "sm/opensm/opensm_log.h"
#include "sm/opensm/opensm_options.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

namespace ibpod::sm::opensm {
namespace {

using fuzz::require;

// The marks do not depend on where a log is cut between two readings.
void check_log(std::string_view log) {
  const auto marks = LogReader().take(log);
  require(marks.size() <= 2 * (log.size() / sizeof " -> SUBNET UP" + 1));
  for (const size_t cut : {log.size() / 3, log.size() / 2, log.size() - log.size() / 7}) {
    LogReader reader;
    auto cut_marks = reader.take(log.substr(0, cut));
    for (const LogMark mark : reader.take(log.substr(cut))) cut_marks.push_back(mark);
    require(cut_marks == marks);
  }
  const std::string_view last = of_last_process(log);
  require(log.ends_with(last) && of_last_process(last).size() == last.size());
}

void check_options_of(const OpenSmOptionsFile& options, std::string_view modules, size_t size) {
  for (const char* option : {"partition_config_file", "log_file", "log_flags", "qos", "daemon"}) {
    const std::string value = options.value(option);
    require(value.size() <= size + 64);
  }
  const Status status = check_options(options, modules, {});
  if (!status) fuzz::check_refusal(status.error(), size);
}

// With any options of the administrator's, OpenSM has the settings that ibpod-sm needs, and its
// keys.
void check_more(const TempFolder& folder, const std::string& text) {
  static const OpenSmPaths paths("/var/lib/ibpod-sm/opensm");
  OpenSmSettings settings;
  settings.more = folder.write("more", text);
  settings.keys.m_key = folder.write("key", "0xabcd");
  const auto conf = render_opensm_conf(settings, paths);
  if (!conf) return fuzz::check_refusal(conf.error(), text.size());
  require(conf->find('\0') == conf->npos);
  const OpenSmOptionsFile options{{}, *conf};
  require(check_options(options, opensm_modules(), options_of(settings)).ok());
  require(options.value("partition_config_file") == paths.partitions);
  require(options.value("log_file") == paths.log);
  require(options.value("m_key") == "0x000000000000abcd");
}

void check_key(const TempFolder& folder, const std::string& text) {
  const auto key = read_key_file(folder.write("key", text));
  if (!key) fuzz::check_refusal(key.error(), 0);  // errors never quote it
}

}  // namespace
}  // namespace ibpod::sm::opensm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  static const TempFolder folder("/dev/shm");
  std::string_view rest = fuzz::text_of(data, size);
  const std::string first(fuzz::next_part(rest));
  const std::string conf(fuzz::next_part(rest));
  sm::opensm::check_log(first);
  sm::opensm::check_options_of({fuzz::lines_of(first), conf}, rest, size);
  sm::opensm::check_more(folder, conf);
  sm::opensm::check_key(folder, first.substr(0, 100));
  return 0;
}
