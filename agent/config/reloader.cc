#include "agent/config/reloader.h"

#include "agent/config/config_keys.h"
#include "lib/base/join.h"

namespace ibpod::agent::config {
namespace {

std::string shown(const Config& config, std::string_view key) {
  const auto found = config.explicit_keys.find(key);
  return found == config.explicit_keys.end() ? "the default" : found->second;
}

// The folder, or the nearest above it that is there: where it will come to be again.
Result<FolderWatch> watch_nearest(Path folder) {
  while (true) {
    Result<FolderWatch> watch = FolderWatch::open(folder);
    const bool gone = !watch && watch.error().code() == Code::not_found;
    if (!gone || folder == folder.parent_path()) return watch;
    folder = folder.parent_path();
  }
}

}  // namespace

Result<Reloader> Reloader::start(Path file, std::string node, ConfigCheck check) {
  const Path whole = std::filesystem::absolute(file);
  Reloader reloader(whole, std::move(node), std::move(check));
  const std::string text = TRY(read_file(whole));
  ParsedConfig result = read_config(text, reloader.node_, reloader.check_);
  if (!result.config)
    return Error(Code::invalid, whole.string() + ": " + join(result.findings.errors, "; "));
  reloader.config_ = std::move(*result.config);
  reloader.warnings_ = std::move(result.findings.warnings);
  reloader.last_text_ = text;
  return reloader;
}

Reload Reloader::poll() {
  const Result<std::string> text = read_file(file_);
  const std::string now = text ? *text : text.error().text();
  if (std::exchange(last_text_, now) == now) return {};
  if (!text) return {Reload::Kind::refused, {now}, {}, {}};
  return load_text(now);
}

Reload Reloader::load_text(const std::string& text) {
  if (text.empty()) return {Reload::Kind::refused, {file_.string() + " is empty"}, {}, {}};
  ParsedConfig result = read_config(text, node_, check_);
  if (!result.config) return {Reload::Kind::refused, result.findings.errors, {}, {}};
  Reload reload{Reload::Kind::taken, {}, {}, result.findings.warnings};
  for (const Key& key : config_keys()) {
    if (key.same(config_, *result.config)) continue;
    reload.changed.emplace_back(key.name);
    if (key.effect != Effect::restart) continue;
    reload.reasons.push_back(std::string(key.name) + ": cannot change from " +
                             shown(config_, key.name) + " to " + shown(*result.config, key.name) +
                             " while the agent runs: restart the agent");
  }
  if (!reload.reasons.empty()) return {Reload::Kind::refused, reload.reasons, {}, {}};
  config_ = std::move(*result.config);
  return reload;
}

Result<int> Reloader::watch() {
  watch_ = TRY(watch_nearest(file_.parent_path()));
  return watch_->fd();
}

Result<Reload> Reloader::wait(Deadline deadline) {
  while (true) {
    TRY(watch());
    Reload reload = poll();
    if (reload.kind != Reload::Kind::unchanged) return reload;
    const bool changed = TRY(watch_->wait(deadline));
    if (!changed) return reload;
  }
}

}  // namespace ibpod::agent::config
