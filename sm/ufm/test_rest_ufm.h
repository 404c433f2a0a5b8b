// RestUfm: a model of a UFM behind its REST interface, for an HttpsServer. Releases differ; each
// difference is a switch.
#pragma once

#include "lib/json/value.h"
#include "sm/ufm/values.h"
#include "tests/support/https_server.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ibpod::sm::ufm {

struct RestUfm {
  struct Member {
    std::string membership;
    bool index0;
  };
  struct Entry {
    std::string name;
    bool ip_over_ib = true;
    std::map<ib::Guid, Member> members = {};
  };
  // Lists of P_Keys: an object with members, an object without, a list of words, a list of objects
  // with members.
  enum class Shape { keyed, flags_only, words, objects };

  std::string base = "/ufmRest";
  std::string authorization = {};  // the header that is demanded; empty: none
  std::string client = {};         // the name in the certificate that is demanded
  Shape shape = Shape::keyed;
  bool unknown_is_404 = true;  // else 200 and {}
  bool serves_delete = true;
  bool serves_action = true;
  bool upper = false;  // 0X00AB instead of 0xab, and GUIDs with 0x
  std::map<std::string, std::string> others = {
      {"/app/ufm_version", R"({"ufm_release_version":"6.14.5-2"})"},
      {"/app/smconf", R"({"m_key":"0x1234","m_key_per_port":"FALSE"})"},
      {"/resources/ports?sys_type=Computer", R"([{"guid":"0x2"},{"guid":"0000000000000001"}])"},
      {"/resources/vports", "[]"},
  };
  std::map<int, json::Value> groups = {};  // of GUIDs
  bool serves_groups = true;
  std::map<ib::PKey, Entry> partitions = {{ib::PKey(0x7fff), {"management"}}};

  HttpsAnswer operator()(const HttpsRequest& request) {
    const auto header = request.headers.find("authorization");
    const std::string shown = header == request.headers.end() ? "" : header->second;
    if (shown != authorization || (!client.empty() && request.client != client))
      return {.status = 401, .body = "Unauthorized"};
    if (!request.target.starts_with(base + "/")) return {.status = 404, .body = "<html>"};
    return route(request, request.target.substr(base.size()));
  }

 private:
  static constexpr std::string_view kAll = "/resources/pkeys";
  static constexpr std::string_view kGroups = "/app/smconf/physical_virtual_mapping";
  static constexpr std::string_view kQuery = "?guids_data=true";

  HttpsAnswer route(const HttpsRequest& request, std::string path) {
    const auto other = others.find(path);
    if (request.method == "GET" && other != others.end()) return {.body = other->second};
    if (request.method == "POST" && path == kAll) return add(request.body);
    if (request.method == "POST" && path == "/actions/remove_guids_from_pkey" && serves_action)
      return remove_by_action(request.body);
    if (path.starts_with(kGroups)) return route_groups(request, path.substr(kGroups.size()));
    const bool with_members = path.ends_with(kQuery);
    if (with_members) path.resize(path.size() - kQuery.size());
    if (request.method == "GET" && path == kAll) return list(with_members);
    if (!path.starts_with(std::string(kAll) + "/")) return {.status = 404, .body = "<html>"};
    path.erase(0, kAll.size() + 1);
    if (request.method == "GET") return single(path, with_members);
    const size_t guids = path.find("/guids/");
    if (request.method != "DELETE" || guids == path.npos || !serves_delete)
      return {.status = 405, .body = "Method Not Allowed"};
    return remove(path.substr(0, guids), path.substr(guids + 7));
  }

  HttpsAnswer route_groups(const HttpsRequest& request, const std::string& rest) {
    if (!serves_groups) return {.status = 404, .body = "<html>"};
    if (request.method == "GET" && rest.empty()) {
      json::Value all = json::Value::object();
      for (const auto& [id, group] : groups) all.set(std::to_string(id), group);
      return {.body = all.text()};
    }
    if (request.method == "POST" && rest.empty()) {
      const int id = groups.empty() ? 1 : groups.rbegin()->first + 1;
      groups.emplace(id, json::Value::parse(request.body).value());
      return {.body = std::to_string(id)};
    }
    if (request.method != "DELETE" || rest.size() < 2) return {.status = 405, .body = "no"};
    return groups.erase(std::stoi(rest.substr(1))) > 0 ? HttpsAnswer{.body = "{}"}
                                                       : HttpsAnswer{.status = 404, .body = "no"};
  }

  HttpsAnswer unknown(const std::string& pkey) const {
    if (!unknown_is_404) return {.body = "{}"};
    return {.status = 404, .body = "PKey " + pkey + " not found"};
  }
  std::string spelled(ib::PKey pkey) const {
    if (!upper) return pkey_text(pkey);
    std::string text = pkey.text();
    for (char& letter : text)
      if (letter >= 'a') letter = static_cast<char>(letter - 'a' + 'A');
    return text;
  }

  json::Value describe(const Entry& entry, bool with_members) const {
    json::Value value = json::Value::object();
    value.set("partition", entry.name).set("ip_over_ib", entry.ip_over_ib);
    if (!with_members) return value;
    json::Value guids = json::Value::array();
    for (const auto& [guid, member] : entry.members) {
      json::Value one = json::Value::object();
      one.set("guid", (upper ? "0x" : "") + guid_text(guid));
      guids.push(one.set("membership", member.membership).set("index0", member.index0));
    }
    return value.set("guids", guids);
  }

  HttpsAnswer list(bool with_members) const {
    const bool is_list = shape == Shape::words || shape == Shape::objects || !with_members;
    json::Value all = is_list ? json::Value::array() : json::Value::object();
    for (const auto& [pkey, entry] : partitions) {
      if (!is_list)
        all.set(spelled(pkey), describe(entry, shape == Shape::keyed));
      else if (shape == Shape::objects)
        all.push(describe(entry, with_members).set("pkey", spelled(pkey)));
      else
        all.push(spelled(pkey));
    }
    return {.body = all.text()};
  }

  HttpsAnswer single(const std::string& text, bool with_members) const {
    const auto found = partitions.find(parse_pkey(text).value());
    if (found == partitions.end()) return unknown(text);
    return {.body = describe(found->second, with_members).text()};
  }

  HttpsAnswer add(const std::string& body) {
    const auto document = json::Value::parse(body).value();
    const ib::PKey pkey = read_pkey(document.at("pkey").value()).value();
    if (pkey.partition() == 0x7fff) return {.status = 400, .body = "PKey 0x7fff is read only"};
    Entry& entry = partitions[pkey];
    entry.name = "api_pkey_" + pkey_text(pkey);
    entry.ip_over_ib = document.at("ip_over_ib").value().boolean().value();
    const std::string membership = document.at("membership").value().string().value();
    const bool index0 = document.at("index0").value().boolean().value();
    for (const json::Value& guid : document.at("guids").value().elements().value())
      entry.members[read_guid(guid).value()] = {membership, index0};
    return {.body = "{}"};
  }

  HttpsAnswer remove_by_action(const std::string& body) {
    const auto document = json::Value::parse(body).value();
    std::string guids;
    for (const json::Value& guid : document.at("guids").value().elements().value())
      guids += guid.string().value() + ",";
    return remove(document.at("pkey").value().string().value(), guids);
  }

  HttpsAnswer remove(const std::string& pkey, std::string guids) {
    const auto found = partitions.find(parse_pkey(pkey).value());
    if (found == partitions.end()) return {.status = 404, .body = "PKey " + pkey + " not found"};
    for (; !guids.empty(); guids.erase(0, std::min(guids.size(), guids.find(',')) + 1)) {
      const json::Value guid(guids.substr(0, guids.find(',')));
      found->second.members.erase(read_guid(guid).value());
    }
    if (found->second.members.empty()) partitions.erase(found);
    return {.body = "{}"};
  }
};

}  // namespace ibpod::sm::ufm
