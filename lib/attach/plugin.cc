#include "lib/attach/plugin.h"

#include "lib/attach/binding.h"
#include "lib/attach/release.h"
#include "lib/attach/verbs.h"
#include "lib/base/private_file.h"

namespace ibpod::attach {

using log::Level;

namespace {

// Warnings in one call, and bytes in each: libcni keeps a plugin's output in a log without
// rotation.
constexpr size_t kMostWarnings = 16;
constexpr size_t kLongestWarning = 1000;

// An agent that is restarted or upgraded is back by then; if not, the caller tries again.
constexpr Duration kUntilBack{15'000};

std::string clipped(std::string text) {
  if (text.size() <= kLongestWarning) return text;
  text.resize(kLongestWarning);
  return text += "...";
}

}  // namespace

struct Plugin::VerbContext {
  std::unique_ptr<node::Kernel> kernel;
  std::unique_ptr<node::Kernel> traced;
  std::unique_ptr<node::Records> records;
  std::unique_ptr<Context> context;
};

// The members of every line: which call it is.
void Plugin::name_call(const cni::Call& call, const json::Value& document) {
  log_.always("command", cni::name(call.verb));
  const std::optional<json::Value> network = document.find("name");
  // It may be none yet: then it is told in the error alone.
  if (network && network->is_string() && network->string()->size() <= cni::kLongestName)
    log_.always("network", *network);
  if (!call.container_id.empty())
    log_.always("containerID", call.container_id).always("ifname", call.ifname);
  if (!call.pod.name.empty()) log_.always("pod", call.pod.name_space + "/" + call.pod.name);
  if (!subject().empty()) name_subject();
}

void Plugin::open_log() {
  log_.set_least(settings().log_level);
  const Status opened = settings().log_file.empty() ? ok() : log_.open(settings().log_file);
  // A pod is not refused for a log.
  if (!opened) log_.write(Level::warning, "logFile: " + opened.error().text());
}

// Its author may fill the node's disk with a network's warnings no more than with its pods.
void Plugin::warn(const std::vector<std::string>& warnings) {
  const size_t written = std::min(warnings.size(), kMostWarnings);
  for (size_t n = 0; n < written; ++n) log_.write(Level::warning, clipped(warnings[n]));
  if (warnings.size() > written)
    log_.write(Level::warning, "and " + std::to_string(warnings.size() - written) +
                                   " more warnings of this network");
}

void Plugin::prepare(const cni::Call& call, const json::Value& document) {
  const Result<NodeConfig> node = deps_.node_config();
  if (node) node_ = *node;
  if (!node) node_read_ = node.error();
  read_lenient(call, document);
  name_call(call, document);
  open_log();
}

Status Plugin::configure(const cni::Call& call, const cni::Network& network) {
  call_ = &call;
  network_ = &network;
  log_.always("network", network.name);
  if (call.environment.contains(std::string(kCalledAsIpam)))
    return Error(Code::invalid, "ipam: " + name_ + " was called as an IPAM plugin, but is not one");
  // Also for DEL: it would look for its record in the wrong folder, and find nothing to end.
  TRY(node_read_);
  // For DEL the remains have to do.
  if (call.verb != cni::Verb::del) TRY(read(call, network));
  warn(network.warnings);
  warn(settings().warnings);
  const Path& named = settings().state_folder;
  required_file_ = AgentRequiredFile::effective(named, node_.state_folder);
  if (!required_file_.is_in(named))
    warn({"stateDir: " + named.string() + " is ignored: this node's records are in " +
          required_file_.folder().string() + " (required by " + required_file_.file().string() +
          ")"});
  return ok();
}

int64_t& Plugin::time_of(node::StepKind kind) {
  switch (kind) {
    case node::StepKind::question:
    case node::StepKind::order:
      return kernel_us_;
    case node::StepKind::wait:
      return wait_us_;
    case node::StepKind::outside:
      return outside_us_;
  }
  std::abort();
}

void Plugin::observe(const node::Step& step) {
  const int64_t us = step.duration.count();
  const bool failed = step.error != nullptr;
  time_of(step.kind) += us;
  json::Value members = json::Value::object().set("result", failed ? "failed" : "done");
  members.set("us", us);
  if (failed) members.set("error", step.error->text());
  const Level usual = step.kind == node::StepKind::order ? Level::info : Level::debug;
  log_.write(failed ? Level::warning : usual, step.what, members);
}

void Plugin::finish(const std::optional<cni::Failure>& failure) {
  const auto whole = std::chrono::steady_clock::now() - begun_;
  json::Value members = json::Value::object();
  members.set("whole_us", std::chrono::duration_cast<std::chrono::microseconds>(whole).count());
  members.set("kernel_us", kernel_us_).set("wait_us", wait_us_).set("outside_us", outside_us_);
  if (!failure) return log_.write(Level::info, "succeeded", members);
  members.set("code", failure->code);
  if (!failure->details.empty()) members.set("details", failure->details);
  log_.write(Level::error, failure->message, members);
}

Result<std::unique_ptr<Plugin::VerbContext>> Plugin::open_verb_context() {
  auto verb_context = std::make_unique<VerbContext>();
  const node::Observer observe = [this](const node::Step& step) { this->observe(step); };
  const std::string boot_id = TRY(deps_.boot_id());
  verb_context->kernel = TRY(deps_.open_kernel());
  verb_context->traced = node::trace(*verb_context->kernel, observe);
  // What others than root can have put there is not obeyed.
  TRY(check_trusted_folder(required_file_.folder()).during("stateDir"));
  verb_context->records = std::make_unique<node::Records>(required_file_.folder());
  verb_context->context = std::make_unique<Context>(
      Context{*verb_context->traced, *verb_context->records, boot_id, name_, *call_, *network_,
              [this] { return agent(); }, needs_agent(),
              [this](const std::string& text) { log_.write(Level::warning, text); },
              [this](const std::string& text) { log_.write(Level::info, text); }, observe, false,
              node_.ipam_types, node_.any_device, expects_records(), node_.master_vfs});
  return verb_context;
}

Result<bool> Plugin::complete(const Context&, Deadline) { return true; }
Status Plugin::check_ready(const Context&, bool) const { return ok(); }
Status Plugin::collect_strays(const Context&, Deadline) const { return ok(); }

// A mark that cannot be read is one all the same.
bool Plugin::needs_agent() const {
  const Result<std::optional<Path>> socket = required_file_.read();
  return !socket || *socket || !settings().agent_socket.empty();
}

// The mark may be on the disk that is missing: an agent that listens has made the folder, too.
bool Plugin::expects_records() const {
  if (path_exists(required_file_.file())) return true;
  const Path& given = node_.agent_socket;
  return required_file_.is_in(node_.state_folder) &&
         path_exists(given.empty() ? Path(kAgentSocket) : given);
}

std::unique_ptr<nodeapi::Node> Plugin::agent() const {
  const Result<std::optional<Path>> marked = required_file_.read();
  if (marked && *marked) return deps_.agent(**marked);
  const Path& given = settings().agent_socket;
  return deps_.agent(given.empty() ? Path(kAgentSocket) : given);
}

// Whether the node lets anything be attached as things stand with its agent; and whether that
// binds.
Result<bool> Plugin::check_standalone(Deadline deadline) const {
  return check_agent(required_file_, settings(), deps_.agent, deadline);
}

// The same for an ADD, which waits for an agent that restarts.
Result<bool> Plugin::await_agent(const Context& context, Deadline deadline) const {
  if (!context.needs_agent) return false;
  return timed(context, "ask the node's agent for its health", [&]() -> Result<bool> {
    Result<bool> sm_managed = false;
    TRY(node::wait_until(context.kernel, deadline.at_most(kUntilBack), [&]() -> Result<bool> {
      sm_managed = check_standalone(deadline);
      return sm_managed || sm_managed.error().code() != Code::unavailable;
    }));
    return sm_managed;
  });
}

// Required only if the agent has written its file.
Status Plugin::check_partition() {
  const bool needed = TRY(required_file_.needs_partition());
  return needed ? require_partition(spec(), settings().unknown) : ok();
}

// A later try may work, and a longer one.
Result<cni::AddResult> Plugin::add() {
  Result<cni::AddResult> added = add_by(Deadline::in(settings().timeout));
  const Duration usual = Settings().timeout;
  if (added || added.error().code() != Code::unavailable || settings().timeout >= usual)
    return added;
  const std::string details = added.error().details();
  const auto seconds = [](Duration time) { return std::to_string(time / Duration(1'000)); };
  return std::move(added).error().with_details(
      details + (details.empty() ? "" : ", ") + "timeoutSeconds of this network is " +
      seconds(settings().timeout) + " (" + seconds(usual) + " by default)");
}

Result<cni::AddResult> Plugin::add_by(Deadline deadline) {
  const std::unique_ptr<VerbContext> verb_context = TRY(open_verb_context());
  const bool sm_managed = TRY(await_agent(*verb_context->context, deadline));
  const bool wanted_here = TRY(complete(*verb_context->context, deadline));
  if (!wanted_here) return cni::AddResult();
  verb_context->context->sm_managed = sm_managed;
  TRY(check_ready(*verb_context->context, sm_managed));
  TRY(check_partition());
  if (sm_managed) TRY(to_partition_request(spec()));
  return attach::add(*verb_context->context, driver(), spec(), deadline.left());
}

// The node's own folder has no such record, and DEL would succeed with everything left in the pod.
Status Plugin::check_recorded_here() const {
  const Path& folder = settings().refused_state_folder;
  if (folder.empty() || !check_trusted_folder(folder)) return ok();
  const auto names = node::Records(folder).of_attachment(call_->container_id, call_->ifname);
  if (!names || names->empty()) return ok();
  return Error(Code::invalid, "stateDir: the record of this attachment is in " + folder.string() +
                                  ", the network's stateDir: set it as stateDir in " +
                                  std::string(kNodeConfigFile) +
                                  " until the pods of that network are gone");
}

Status Plugin::del() {
  TRY(check_recorded_here());
  const std::unique_ptr<VerbContext> verb_context = TRY(open_verb_context());
  return attach::del(*verb_context->context, folder(*call_), settings().timeout);
}

Status Plugin::check() {
  const std::unique_ptr<VerbContext> verb_context = TRY(open_verb_context());
  const Deadline deadline = Deadline::in(settings().timeout);
  const bool given = TRY(complete(*verb_context->context, deadline));
  return given ? attach::check(*verb_context->context, driver(), deadline.left()) : ok();
}

Status Plugin::gc() {
  const std::unique_ptr<VerbContext> verb_context = TRY(open_verb_context());
  const Deadline deadline = Deadline::in(settings().timeout);
  TRY(check_records(*verb_context->context));
  Errors errors;
  errors.collect(attach::gc(*verb_context->context, deadline));
  errors.collect(collect_strays(*verb_context->context, deadline));
  return errors.status();
}

Status Plugin::status() {
  const std::unique_ptr<VerbContext> verb_context = TRY(open_verb_context());
  const Result<bool> sm_managed = check_standalone(Deadline::in(settings().timeout));
  verb_context->context->sm_managed = sm_managed && *sm_managed;
  if (verb_context->context->sm_managed) TRY(to_partition_request(spec()));
  Status node = check_node(*verb_context->context);
  if (node && !sm_managed) node = sm_managed.error();
  return attach::status(*verb_context->context, node, settings().timeout);
}

}  // namespace ibpod::attach
