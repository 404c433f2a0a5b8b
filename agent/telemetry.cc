#include "agent/telemetry.h"

#include "agent/metrics/metrics.h"
#include "device-plugin/device_changes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ibpod::agent {
namespace {

using device_plugin::Offer;
using device_plugin::Stock;

struct State {
  std::string resource;
  std::string unhealthy;
  std::string_view ailment;
};

std::map<std::string, State> states_of(const View& view) {
  std::map<std::string, State> states;
  for (const Stock& stock : view.stocks) {
    for (const Offer& offer : stock.offers) {
      const auto verdict = view.verdicts.find(offer.id);
      const bool ill = verdict != view.verdicts.end() && verdict->second.ailment;
      states[offer.id] = {stock.pool.resource(), offer.unhealthy,
                          ill ? device_plugin::name(*verdict->second.ailment) : "healthy"};
    }
  }
  return states;
}

// Resources that this node has, and no device for.
std::set<std::string> empty_pools(const View& view) {
  std::set<std::string> resources;
  for (const Stock& stock : view.stocks) {
    if (stock.pool.kind != device_plugin::Kind::foreign && stock.offers.empty())
      resources.insert(stock.pool.resource());
  }
  return resources;
}

PoolDevices count(const Stock& stock) {
  PoolDevices counted{stock.pool.resource()};
  for (const Offer& offer : stock.offers) {
    ++(offer.unhealthy.empty() ? counted.healthy : counted.unhealthy);
    if (!offer.device.attachment.empty()) ++counted.in_use;
  }
  return counted;
}

}  // namespace

void Report::trouble(const std::string& about, const Status& status) {
  const std::scoped_lock lock(mutex_);
  std::string& last = troubles_[about];
  const std::string now = status ? "" : status.error().text();
  if (now == last) return;
  if (now.empty())
    info(about + ": well again");
  else
    warning(about + ": " + now);
  last = now;
}

void Report::compare_offers(const View& before, const View& now) {
  const std::map<std::string, State> old = states_of(before);
  for (const auto& [id, state] : states_of(now)) {
    const auto was = old.find(id);
    if (was != old.end() && was->second.unhealthy == state.unhealthy) continue;
    count_health_change(metrics_, state.resource, state.ailment);
    info(id + ": " + (state.unhealthy.empty() ? "healthy" : "unhealthy: " + state.unhealthy) +
         ", offered as " + state.resource);
  }
  const std::set<std::string> told = empty_pools(before);
  for (const std::string& resource : empty_pools(now)) {
    if (!told.contains(resource))
      info(resource +
           ": its pool takes no device of this node; `ibpodctl explain DEVICE` says of " +
           "each device why");
  }
}

void Report::seen(const View& before, const View& now) {
  for (const std::string& line : device_plugin::changes(before.devices, now.devices)) info(line);
  compare_offers(before, now);
  std::vector<PoolDevices> pools;
  for (const Stock& stock : now.stocks) {
    pools.push_back(count(stock));
    for (const Offer& offer : stock.offers) {
      const auto verdict = now.verdicts.find(offer.id);
      if (verdict != now.verdicts.end() && verdict->second.ailment)
        ++pools.back().reasons[std::string(device_plugin::name(*verdict->second.ailment))];
    }
  }
  show_pools(metrics_, pools);
}

void Report::contact(const std::string& fabric, const Contact& contact) {
  show_fabric(metrics_, fabric, contact.reached, contact.bound, contact.unsettled);
  trouble("the SM service of fabric " + fabric,
          contact.reached ? ok() : Status(Error(Code::unavailable, contact.trouble)));
}

void Report::certificates(const std::map<std::string, NodeCertificate>& by_fabric) {
  std::vector<FabricCertificate> shown;
  for (const auto& [fabric, one] : by_fabric) {
    shown.push_back({fabric, one.usable.ok(), one.expires});
    trouble("the node's certificate for fabric " + fabric, one.state);
  }
  show_certificates(metrics_, shown);
}

void Report::configured() { show_configuration(metrics_, true); }

void Report::rdma_mode(const std::string& wanted, const RdmaModeVerdict& verdict) {
  const bool exclusive = verdict.mode == nl::RdmaNetnsMode::exclusive;
  const std::string mode = !verdict.mode ? "unknown" : exclusive ? "exclusive" : "shared";
  show_rdma_netns(metrics_, wanted, mode, verdict.as_wanted);
  const std::string text = verdict.with_remedy();
  if (std::exchange(rdma_mode_, text) == text) return;
  verdict.as_wanted ? info(text) : warning(text);
}

// A preparation is tried again and again; what is wrong is logged once.
std::vector<std::string> Report::prepared(const Preparation& preparation) {
  for (const std::string& line : preparation.done) info(line);
  std::vector<std::string> problems;
  std::map<std::string, size_t> errors;
  for (const Error& problem : preparation.problems) {
    const std::string text = problem.text();
    const auto pf = ib::PciAddress::parse(text.substr(0, text.find(": ")));
    ++errors[pf ? pf->text() : ""];
    if (std::find(problems_.begin(), problems_.end(), text) == problems_.end()) error(text);
    problems.push_back(text);
  }
  show_preparation(metrics_, errors);
  problems_ = problems;
  return problems;
}

void Report::tell_strays(const Pass& pass) {
  std::string names;
  for (const std::string& name : pass.strays) names += (names.empty() ? "" : ", ") + name;
  const std::string what = "IPoIB children without a record" + (names.empty() ? "" : ": " + names);
  if (pass.strays_failure.empty() && !names.empty()) info(what + ": removed");
  const std::string failure = pass.strays_failure.empty() ? "" : what + ": " + pass.strays_failure;
  if (!failure.empty() && failure != strays_failure_) warning(failure);
  strays_failure_ = failure;
}

void Report::tell_owed(const Pass& pass) {
  std::map<node::AddressReleaseName, std::string> owed;
  for (const OwedAddresses& one : pass.owed) {
    const std::string what = "addresses of " + one.name.text();
    if (one.released) info(what + ": given back to IPAM");
    if (one.released || one.failure.empty()) continue;
    owed[one.name] = one.failure;
    if (owed_[one.name] != one.failure) warning(what + ": still owed to IPAM: " + one.failure);
  }
  owed_ = std::move(owed);
  trouble("addresses that are owed to IPAM",
          pass.owed_failure.empty() ? ok() : Status(Error(Code::internal, pass.owed_failure)));
}

void Report::swept(const Pass& pass) {
  SweepCounts counts;
  std::map<node::RecordName, std::string> quarantined;
  for (const Outcome& outcome : pass.outcomes) {
    ++(outcome.verdict == Verdict::live   ? counts.live
       : outcome.verdict == Verdict::dead ? counts.dead
                                          : counts.unknown);
    if (outcome.released)
      ++counts.released, info(outcome.record.text() + ": released: " + outcome.reason);
    if (!outcome.failure.empty()) ++counts.failed;
    if (!outcome.quarantined()) continue;
    if (outcome.vf) ++counts.quarantined;
    quarantined[outcome.record] = outcome.text();
    if (quarantined_[outcome.record] != outcome.text())
      warning(outcome.record.text() + ": quarantined: " + outcome.text());
  }
  quarantined_ = std::move(quarantined);
  counts.owed = static_cast<size_t>(std::count_if(
      pass.owed.begin(), pass.owed.end(), [](const OwedAddresses& one) { return !one.released; }));
  tell_owed(pass);
  tell_strays(pass);
  show_sweep(metrics_, counts, std::time(nullptr));
}

void Report::reloaded(const Reload& reload) {
  if (reload.kind == Reload::Kind::unchanged) return;
  count_reload(metrics_, reload.kind == Reload::Kind::taken);
  for (const std::string& text : reload.warnings) warning("configuration: " + text);
  for (const std::string& text : reload.reasons)
    error("configuration refused, the last good one stays: " + text);
  std::string changed;
  for (const std::string& key : reload.changed) changed += (changed.empty() ? "" : ", ") + key;
  if (reload.kind == Reload::Kind::taken) info("configuration taken: changed: " + changed);
}

void Report::registered(const std::map<std::string, kube::Registration>& registrations) {
  std::map<std::string, bool> shown;
  for (const auto& [pool, now] : registrations) {
    shown[pool] = now.registered;
    const kube::Registration& before = registrations_[pool];
    if (now.attempts > before.attempts) count_registration(metrics_, pool, now.registered);
    if (now.registered == before.registered) continue;
    const std::string why = now.last_error ? ": " + now.last_error->text() : "";
    info(pool + (now.registered
                     ? ": registered with the kubelet (" + std::string(name(now.mode)) + ")"
                     : ": no longer registered" + why));
  }
  registrations_ = registrations;
  show_registrations(metrics_, shown);
}

void Report::allocated(const std::string& resource, bool granted,
                       std::chrono::duration<double> took) {
  count_allocation(metrics_, resource, granted, took);
}

}  // namespace ibpod::agent
