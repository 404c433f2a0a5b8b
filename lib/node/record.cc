#include "lib/node/record.h"

#include "lib/base/fnv.h"
#include "lib/ib/hex.h"
#include "lib/json/value.h"
#include "lib/json/version.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <type_traits>

namespace ibpod::node {
namespace {

using json::Value;

constexpr uint32_t kOldest = 1, kWithPartitions = 2, kNewest = kWithPartitions;

// Detects damaged files; it is no protection against intent.
std::string checksum(std::string_view text) { return ib::hex(fnv1a(text), 16); }

// The members of each part of a record, for both directions: `fields` is a Writer and `part` is
// const, or it is a Reader.
template <typename T, typename Part>
concept Is = std::same_as<std::remove_const_t<T>, Part>;

void visit(auto& fields, Is<Guids> auto& guids) { fields("node", guids.node)("port", guids.port); }

void visit(auto& fields, Is<Namespace> auto& netns) {
  fields("path", netns.path)("device", netns.identity.device)("inode", netns.identity.inode);
  fields("cookie", netns.identity.cookie);
}

void visit(auto& fields, Is<PartitionRequest> auto& request) {
  fields("name", request.name).unless_empty("membership", request.membership);
  fields("pkey", request.pkey);
}

void visit(auto& fields, Is<Spec> auto& spec) {
  fields("ifname", spec.ifname)("isolation", spec.isolation)("guids", spec.guids);
  fields("policy", spec.policy)("mtu", spec.mtu)("pkey", spec.pkey);
  fields.unless_empty("partitions", spec.partitions);
}

void visit(auto& fields, Is<OriginalNetdev> auto& netdev) {
  fields("name", netdev.name)("altnames", netdev.altnames)("mtu", netdev.mtu)("up", netdev.up);
  fields("address", netdev.address)("mode", netdev.mode)("umcast", netdev.umcast);
  fields("children", netdev.children);
}

void visit(auto& fields, Is<Original> auto& original) {
  fields("driver", original.driver)("rdma", original.rdma_devices)("netdev", original.netdev);
  fields("otherNetdevs", original.other_netdevs)("guids", original.guids);
  fields("told", original.pf_configured)("policy", original.policy);
}

void visit(auto& fields, Is<Child> auto& child) {
  fields("link", child.link)("master", child.master)("pkey", child.pkey)("parent", child.parent);
  fields("port", child.port)("index", child.index)("mode", child.mode)("umcast", child.umcast);
  fields("address", child.address);
}

void visit(auto& fields, Is<PodName> auto& pod) {
  fields("namespace", pod.name_space)("name", pod.name)("uid", pod.uid);
}

void visit(auto& fields, Is<Record> auto& record) {
  fields("plugin", record.plugin)("attempt", record.attempt)("network", record.network);
  fields("containerID", record.container_id)("ifname", record.ifname)("pod", record.pod);
  fields("device", record.device)("netns", record.netns)("bootID", record.boot_id);
  fields("child", record.child)("wanted", record.spec)("found", record.original);
  fields.unless_empty("stage", record.stage).unless_empty("unsettled", record.rebind_pending);
  fields("configuration", record.configuration)("cniArgs", record.cni_args);
  fields("cniPath", record.cni_path);
}

// The words of an enum, in the order of its numbers.
constexpr std::array kPolicies{"auto", "enable", "disable"};
constexpr std::array kStages{"attached", "ending", "pkey_pending"};
constexpr std::array kModes{"datagram", "connected"};
std::span<const char* const> words_of(LinkPolicy) { return kPolicies; }
std::span<const char* const> words_of(Stage) { return kStages; }
std::span<const char* const> words_of(nl::IpoibMode) { return kModes; }
template <typename T>
concept Named = requires(T value) {
  words_of(value);
};

// For types with text() and parse(): GUIDs, P_Keys, PCI addresses.
template <typename T>
concept Textual = requires(std::string_view text) {
  T::parse(text);
};

// For types that json::Value can hold and read.
Value to_value(const std::string& text) { return text; }
Value to_value(const Path& path) { return path.string(); }
Value to_value(bool flag) { return flag; }
Value to_value(uint32_t number) { return number; }
// 64-bit numbers are hexadecimal text: many readers of JSON lose the lower digits of a number.
Value to_value(uint64_t wide) { return ib::hex(wide, 16); }
Value to_value(nl::IfIndex index) { return static_cast<int32_t>(index); }
// Writes the number: an older ibpod that does not know the words would take the record for damaged.
template <Named T>
Value to_value(const T& word) {
  return static_cast<uint32_t>(word);
}
template <Textual T>
Value to_value(const T& value) {
  return value.text();
}
Value to_value(const nl::HardwareAddress& address) {
  std::string digits;
  for (const uint8_t byte : address) digits += ib::hex(byte, 2);
  return digits;
}
template <typename Part>
Value to_value(const std::vector<Part>& list);
template <typename Part>
Value to_value(const Part& part);

class Writer {
 public:
  template <typename T>
  Writer& operator()(std::string_view key, const T& member) {
    value_.set(key, to_value(member));
    return *this;
  }
  template <typename T>
  Writer& operator()(std::string_view key, const std::optional<T>& member) {
    return member ? (*this)(key, *member) : *this;
  }
  template <typename T>
  Writer& unless_empty(std::string_view key, const T& member) {
    return member == T() ? *this : (*this)(key, member);
  }
  Value value() && { return std::move(value_); }

 private:
  Value value_ = Value::object();
};

template <typename Part>
Value to_value(const std::vector<Part>& list) {
  Value array = Value::array();
  for (const Part& part : list) array.push(to_value(part));
  return array;
}

template <typename Part>
Value to_value(const Part& part) {
  Writer writer;
  visit(writer, part);
  return std::move(writer).value();
}

template <typename T>
Status assign(Result<T> read, auto& member) {
  if (!read) return read.error();
  member = std::move(read).value();
  return ok();
}

Status read(const Value& value, std::string& text) { return assign(value.string(), text); }
Status read(const Value& value, Path& path) { return assign(value.string(), path); }
Status read(const Value& value, bool& flag) { return assign(value.boolean(), flag); }
Status read(const Value& value, uint32_t& number) {
  const int64_t wide = TRY(value.integer(0, UINT32_MAX));
  number = static_cast<uint32_t>(wide);
  return ok();
}
Status read(const Value& value, uint64_t& wide) {
  const std::string text = TRY(value.string());
  const std::optional<uint64_t> number = ib::parse_hex(text);
  if (!number) return value.wrong("expected hexadecimal digits");
  wide = *number;
  return ok();
}
Status read(const Value& value, nl::IfIndex& index) {
  const int64_t number = TRY(value.integer(0, INT32_MAX));
  index = static_cast<nl::IfIndex>(number);
  return ok();
}

// Reads a word of the list, or its number.
Result<int64_t> read_word(const Value& value, std::span<const char* const> words) {
  if (!value.is_string()) return value.integer(0, static_cast<int64_t>(words.size()) - 1);
  const std::string word = TRY(value.string());
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return value.wrong("unknown word \"" + word + "\"");
  return found - words.begin();
}
template <Named T>
Status read(const Value& value, T& word) {
  const int64_t number = TRY(read_word(value, words_of(word)));
  word = static_cast<T>(number);
  return ok();
}

template <Textual T>
Status read(const Value& value, T& parsed) {
  const std::string text = TRY(value.string());
  return assign(T::parse(text), parsed);
}

Status read(const Value& value, nl::HardwareAddress& address) {
  const std::string digits = TRY(value.string());
  if (digits.size() % 2 != 0) return value.wrong("expected two hexadecimal digits for each byte");
  for (size_t i = 0; i < digits.size(); i += 2) {
    const std::optional<uint64_t> byte = ib::parse_hex(std::string_view(digits).substr(i, 2));
    if (!byte) return value.wrong("expected hexadecimal digits");
    address.push_back(static_cast<uint8_t>(*byte));
  }
  return ok();
}

template <typename Part>
Status read(const Value& value, std::vector<Part>& list);
template <typename Part>
Status read(const Value& value, Part& part);

// Stops at the first error.
class Reader {
 public:
  explicit Reader(const Value& object) : object_(object) {}

  // A required member.
  template <typename T>
  Reader& operator()(std::string_view key, T& member) {
    if (!status_) return *this;
    const Result<Value> value = object_.at(key);
    status_ = value ? read(*value, member) : Status(value.error());
    return *this;
  }
  template <typename T>
  Reader& operator()(std::string_view key, std::optional<T>& member) {
    const std::optional<Value> value = object_.find(key);
    if (status_ && value) status_ = read(*value, member.emplace());
    return *this;
  }
  template <typename T>
  Reader& unless_empty(std::string_view key, T& member) {
    const std::optional<Value> value = object_.find(key);
    if (status_ && value) status_ = read(*value, member);
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  const Value& object_;
  Status status_ = ok();
};

template <typename Part>
Status read(const Value& value, std::vector<Part>& list) {
  const std::vector<Value> elements = TRY(value.elements());
  for (const Value& element : elements) TRY(read(element, list.emplace_back()));
  return ok();
}

template <typename Part>
Status read(const Value& value, Part& part) {
  Reader reader(value);
  visit(reader, part);
  return reader.status();
}

Guids own_guids(const Record& record) {
  const std::optional<Guids>& own =
      record.original.guids ? record.original.guids : record.original.pf_configured;
  return own.value_or(Guids{});
}

}  // namespace

bool same(const Guids& a, const Guids& b) { return a == b || (a.none() && b.none()); }

ib::Guid port_of(const Record& record) {
  if (record.child) return record.child->port;
  return record.spec.guids.value_or(own_guids(record)).port;
}

bool has_requested_guid(const Record& record) {
  return !record.child && record.spec.guids && record.spec.guids->port != own_guids(record).port;
}

std::string text_of(const Record& record) {
  const Value attachment = to_value(record);
  Value document = Value::object();
  document.set(json::kVersion, record.spec.partitions.empty() ? kOldest : kWithPartitions)
      .set("checksum", checksum(attachment.text()))
      .set("attachment", attachment);
  return document.pretty() + "\n";
}

Result<Record> parse_record(std::string_view text) {
  const Value document = TRY(Value::parse(text));
  TRY(json::check_version(document, kNewest));
  const Value sum = TRY(document.at("checksum"));
  const std::string expected = TRY(sum.string());
  const Value attachment = TRY(document.at("attachment"));
  if (checksum(attachment.text()) != expected)
    return Error(Code::invalid, "the checksum does not match: the file is damaged");
  Record record;
  TRY(read(attachment, record));
  return record;
}

}  // namespace ibpod::node
