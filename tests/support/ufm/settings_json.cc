#include "tests/support/ufm/settings_json.h"

#include "lib/json/read.h"

#include <chrono>

namespace ibpod::fake_ufm {

Words<PlainList> words_of(PlainList) {
  return {{"pkeys", PlainList::pkeys}, {"objects", PlainList::objects}, {"map", PlainList::map}};
}

Words<GuidsList> words_of(GuidsList) {
  return {
      {"map", GuidsList::map}, {"objects", GuidsList::objects}, {"ignored", GuidsList::ignored}};
}

Words<BothArguments> words_of(BothArguments) {
  return {{"refused", BothArguments::refused},
          {"without_guids", BothArguments::without_guids},
          {"complete", BothArguments::complete}};
}

Words<TimeFormat> words_of(TimeFormat) {
  return {{"unix_date", TimeFormat::unix_date}, {"numeric", TimeFormat::numeric}};
}

namespace {

using json::Fields;
using json::Value;

template <typename Visitor, typename Target>
void visit_switches(Visitor& visitor, Target& target) {
  visitor("accepts_unknown_guids", target.accepts_unknown_guids);
  visitor("post_creates", target.post_creates);
  visitor("removal_of_last_deletes", target.removal_of_last_deletes);
  visitor("atomic", target.atomic);
  visitor("missing_is_404", target.missing_is_404);
  visitor("post_honors_memberships", target.post_honors_memberships);
  visitor("post_overwrites_ip_over_ib", target.post_overwrites_ip_over_ib);
  visitor("index0_once", target.index0_once);
  visitor("port_in_one_group", target.port_in_one_group);
  visitor("created_status", target.created_status);
  visitor("exists_status", target.exists_status);
}

template <typename Visitor, typename Target>
void visit_settings(Visitor& visitor, Target& target) {
  visitor("plain_list", target.plain_list);
  visitor("both_arguments", target.both_arguments);
  visitor("guids_list", target.guids_list);
  visitor("pads_pkeys", target.pads_pkeys);
  visitor("upper_case", target.upper_case);
  visitor("prefixes_guids", target.prefixes_guids);
  visitor("accepts_trailing_slash", target.accepts_trailing_slash);
  visitor("serves_guid_removal", target.serves_guid_removal);
  visitor("serves_removal_action", target.serves_removal_action);
  visitor("serves_guid_groups", target.serves_guid_groups);
  visitor("shows_membership", target.shows_membership);
  visitor("shows_index0", target.shows_index0);
  visitor("shows_management_membership", target.shows_management_membership);
  visitor("shows_default_membership", target.shows_default_membership);
  visitor("shows_m_key_per_port", target.shows_m_key_per_port);
  visitor("time_format", target.time_format);
  visitor("utc_offset_minutes", target.utc_offset);
  visitor("version", target.version);
  visitor("default_membership", target.default_membership);
  visitor("m_key_per_port", target.m_key_per_port);
  visitor("has_default_keys", target.has_default_keys);
  visitor("job_duration_ms", target.job_duration);
}

class Reader {
 public:
  explicit Reader(Fields fields) : fields_(std::move(fields)) {}

  template <typename T>
  void operator()(const char* key, T& target) {
    if (!status_) return;
    status_ = take(key, target);
  }
  Status finish(const Value& object) {
    return status_ ? json::refuse_unknown(object, fields_) : status_;
  }

 private:
  template <typename T>
  Status take(const char* key, T& target) {
    return json::take(fields_, key, target);
  }
  Status take(const char* key, int& target) {
    const auto number = TRY(fields_.integer(key, 100, 599));
    if (number) target = static_cast<int>(*number);
    return ok();
  }
  Status take(const char* key, ib::Membership& target) {
    return json::take(fields_, key, target, read_membership);
  }
  template <typename Period>
  Status take(const char* key, std::chrono::duration<int64_t, Period>& target) {
    const auto number = TRY(fields_.integer(key, -86'400'000, 86'400'000));
    if (number) target = std::chrono::duration<int64_t, Period>(*number);
    return ok();
  }

  Fields fields_;
  Status status_ = ok();
};

class Writer {
 public:
  template <typename T>
  void operator()(const char* key, const T& value) {
    object_.set(key, form(value));
  }
  Value object() const { return object_; }

 private:
  static Value form(bool value) { return value; }
  static Value form(int value) { return value; }
  static Value form(const std::string& value) { return value; }
  static Value form(ib::Membership value) { return ib::name(value); }
  template <typename Period>
  static Value form(std::chrono::duration<int64_t, Period> value) {
    return static_cast<int64_t>(value.count());
  }
  template <typename T>
  requires std::is_enum_v<T>
  static Value form(T value) { return word_of(words_of(value), value); }

  Value object_ = Value::object();
};

}  // namespace

Result<ib::Membership> read_membership(const Value& value) {
  const std::string word = TRY(value.string());
  if (word == "full") return ib::Membership::full;
  if (word == "limited") return ib::Membership::limited;
  return value.wrong("expected full or limited, got " + value.text());
}

Status update(Switches& switches, const Value& object) {
  Reader reader(TRY(Fields::of(object)));
  Switches changed = switches;
  visit_switches(reader, changed);
  TRY(reader.finish(object));
  switches = changed;
  return ok();
}

Status update(RestSettings& settings, const Value& object) {
  Reader reader(TRY(Fields::of(object)));
  RestSettings changed = settings;
  visit_settings(reader, changed);
  TRY(reader.finish(object));
  settings = changed;
  return ok();
}

Value to_json(const Switches& switches) {
  Writer writer;
  visit_switches(writer, switches);
  return writer.object();
}

Value to_json(const RestSettings& settings) {
  Writer writer;
  visit_settings(writer, settings);
  return writer.object();
}

}  // namespace ibpod::fake_ufm
