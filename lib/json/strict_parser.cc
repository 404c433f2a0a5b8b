#include "lib/json/strict_parser.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::json {

using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kDeepest = 64;

// Takes what the library's reader reports, and refuses what it accepts: keys given twice and
// unlimited nesting. Each call returns false to end the reading. The names are the library's.
class Builder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t&) { return fail("binary"); }  // has no form in JSON's text

  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& key) {
    if (!open_.back().keys.insert(key).second)
      return fail("duplicate key \"" + key + "\"" + within());
    open_.back().key = std::move(key);
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: …": keep what helps.
    const std::string_view full = error.what();
    const size_t start = full.find("] ");
    return fail(std::string(start == full.npos ? full : full.substr(start + 2)));
  }

  Result<Json> result() && {
    if (!error_.empty()) return Error(Code::invalid, "JSON: " + error_);
    return std::move(root_);
  }

 private:
  // An object or a list whose end has not been read. Nothing is added to its parent meanwhile, so
  // the pointer stays valid.
  struct Open {
    Json* json = nullptr;
    std::set<std::string> keys = {};
    std::string key = {};  // of the member that is read now
  };

  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back().json;
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    auto& members = parent.get_ref<Json::object_t&>();
    return &members.emplace_back(open_.back().key, std::move(value)).second;
  }
  bool add(Json value) {
    if (open_.size() > kDeepest) return too_deep();
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() > kDeepest) return too_deep();
    open_.push_back({place(std::move(value))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  bool too_deep() { return fail("nested deeper than " + std::to_string(kDeepest)); }
  // The keys that lead to the innermost object.
  std::string within() const {
    std::string text;
    for (size_t n = 0; n + 1 < open_.size(); ++n)
      if (open_[n].json->is_object()) text += (text.empty() ? ", in " : ".") + open_[n].key;
    return text;
  }
  bool fail(std::string text) {
    error_ = std::move(text);
    return false;
  }

  Json root_;
  std::vector<Open> open_;
  std::string error_;
};

}  // namespace

Result<nlohmann::ordered_json> parse_strictly(std::string_view text, bool ignore_comments) {
  Builder builder;
  (void)Json::sax_parse(text, &builder, Json::input_format_t::json, true, ignore_comments);
  return std::move(builder).result();
}

}  // namespace ibpod::json
