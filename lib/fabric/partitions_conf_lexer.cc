#include "lib/fabric/partitions_conf_lexer.h"

#include "lib/base/nearest.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ibpod::fabric {
namespace {

constexpr std::string_view kBlank = " \t";

// Part of a line, and where it stands.
struct Piece {
  SourcePosition position;
  std::string_view text;

  bool blank() const { return text.find_first_not_of(kBlank) == std::string_view::npos; }
  Piece from(size_t at) const { return {{position.line, position.column + at}, text.substr(at)}; }
  Piece before(size_t at) const { return {position, text.substr(0, at)}; }
  Word trimmed() const {
    const size_t first = std::min(text.find_first_not_of(kBlank), text.size());
    const std::string_view rest = text.substr(first);
    return {{position.line, position.column + first},
            rest.substr(0, rest.find_last_not_of(kBlank) + 1)};
  }
};

Status check_bytes(const Piece& line) {
  if (line.text.size() > kMostLine) {
    return wrong({line.position.line, kMostLine + 1},
                 "a line of " + std::to_string(line.text.size()) + " bytes: OpenSM cuts it after " +
                     std::to_string(kMostLine) + ": break the line after a comma");
  }
  for (size_t i = 0; i < line.text.size(); ++i) {
    const auto c = static_cast<unsigned char>(line.text[i]);
    if (c == '\r')
      return wrong(line.from(i).position,
                   "a carriage return, which OpenSM reads as part of a word: end lines with a "
                   "newline alone");
    if ((c < ' ' && c != '\t') || c == 0x7f) {
      return wrong(line.from(i).position,
                   "the control character 0x" + ib::hex(c, 2) + ": expected text, blanks and tabs");
    }
  }
  return ok();
}

Entry entry_of(const Piece& piece, bool comma_after) {
  const size_t sign = piece.text.find('=');
  if (sign == std::string_view::npos) return {piece.trimmed(), std::nullopt, comma_after};
  const Piece value = piece.from(sign + 1);
  // The position of a missing value is after the '='.
  return {piece.before(sign).trimmed(), value.blank() ? Word{value.position, {}} : value.trimmed(),
          comma_after};
}

// Leaves out the empty entry after a trailing comma.
Entries entries_of(Piece piece) {
  Entries entries;
  while (true) {
    const size_t comma = piece.text.find(',');
    const bool last = comma == std::string_view::npos;
    const Entry entry = entry_of(piece.before(last ? piece.text.size() : comma), !last);
    if (!last || entry.value || !entry.name.text.empty()) entries.push_back(entry);
    if (last) return entries;
    piece = piece.from(comma + 1);
  }
}

Status check_entry(const Entry& entry) {
  if (entry.value && entry.value->text.empty()) {
    return wrong(entry.value->position,
                 "no value after '=': OpenSM reads it as full, as 0 or as an error: write the "
                 "value, or remove the '='");
  }
  if (!entry.name.text.empty()) return ok();
  return wrong(entry.name.position, entry.value ? "nothing before '='" : "nothing before ','");
}

class PartitionsConfLexer {
 public:
  Status line(const Piece& whole) {
    TRY(check_bytes(whole));
    Piece rest = whole.before(std::min(whole.text.find('#'), whole.text.size()));
    while (true) {
      const size_t end = rest.text.find(';');
      if (end == std::string_view::npos) return rest.blank() ? ok() : take(rest);
      const Piece last = rest.before(end);
      if (last.blank()) {
        return wrong(rest.from(end).position,
                     "';' with nothing before it, after which OpenSM reads remains of an earlier "
                     "line: put it after the last entry");
      }
      TRY(take(last));
      open_ = false;
      ended_on_ = last.position.line;
      rest = rest.from(end + 1);
    }
  }

  Status end() const {
    if (!open_) return ok();
    return wrong(definitions_.back().position,
                 "the definition that starts here has no ';': is the rest of the file missing?");
  }
  std::vector<DefinitionTokens> definitions() && { return std::move(definitions_); }

 private:
  // The text of one line up to its end, a comment or ';'.
  Status take(const Piece& piece) { return open_ ? take_list(piece) : take_head(piece); }

  Status take_head(const Piece& piece) {
    const size_t colon = piece.text.find(':');
    if (colon == std::string_view::npos) {
      std::string text =
          "no ':' on the line on which a definition starts: expected NAME=0xNNNN : MEMBER, ... ;";
      if (ended_on_ != 0)
        text += " (or, if it continues the previous definition: ',' instead of the ';' of line " +
                std::to_string(ended_on_) + ")";
      return wrong(piece.trimmed().position, text);
    }
    const Piece head = piece.before(colon);
    Entries entries = entries_of(head);
    if (entries.empty())
      return wrong(piece.from(colon).position, "nothing before ':': expected NAME=0xNNNN");
    if (entries.back().comma_after)
      return wrong(piece.from(colon).position, "nothing between ',' and ':'");
    for (size_t i = 0; i < entries.size(); ++i) {
      // A partition needs no name.
      if (i > 0 || !entries[i].value || entries[i].value->text.empty())
        TRY(check_entry(entries[i]));
    }
    definitions_.push_back({head.trimmed().position, std::move(entries), {}});
    open_ = true;
    return take_list(piece.from(colon + 1));
  }

  Status take_list(const Piece& piece) {
    if (piece.blank()) return ok();
    Entries entries = entries_of(piece);
    for (const Entry& entry : entries) TRY(check_entry(entry));
    definitions_.back().lines.push_back(std::move(entries));
    return ok();
  }

  std::vector<DefinitionTokens> definitions_;
  bool open_ = false;
  size_t ended_on_ = 0;  // the line of the last ';'
};

std::string printable(std::string text) {
  constexpr size_t kMost = 400, kBegin = 100, kEnd = 200;
  if (text.size() > kMost) text.replace(kBegin, text.size() - kBegin - kEnd, " ... ");
  const auto is_odd = [](char c) { return c < ' ' || c >= 0x7f; };
  std::replace_if(text.begin(), text.end(), is_odd, '?');
  return text;
}

}  // namespace

Error wrong(SourcePosition position, const std::string& text) {
  return Error(Code::invalid, "line " + std::to_string(position.line) + ", column " +
                                  std::to_string(position.column) + ": " + printable(text));
}

LexResult lex_definitions(std::string_view text) {
  PartitionsConfLexer parser;
  Status status = ok();
  for (size_t number = 1; !text.empty() && status; ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    status = parser.line({{number, 1}, text.substr(0, end)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (status) status = parser.end();
  return {std::move(parser).definitions(), std::move(status)};
}

namespace {

struct Range {
  uint64_t least;
  uint64_t most;
  std::string_view meaning = {};  // ": a code, ..."
  // The value that a code stands for, in units that people use.
  std::string (*units)(uint64_t code) = nullptr;
};

std::string bytes_of_mtu(uint64_t code);
std::string gbps_of_rate(uint64_t code);

constexpr Range kMtu{1, static_cast<uint64_t>(Mtu::mtu_4096), ": a code, from 256 to 4096 bytes",
                     bytes_of_mtu};
constexpr Range kRate{static_cast<uint64_t>(kFirstRate), static_cast<uint64_t>(kLastRate),
                      ": a code, 3 for 10 Gb/s", gbps_of_rate};
constexpr Range kSl{0, kMostSl};
constexpr Range kScope{1, kMostScope};
constexpr Range kQKey{0, UINT32_MAX};
constexpr Range kTClass{0, UINT8_MAX};
constexpr Range kFlowLabel{0, kMostFlowLabel};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string text_of(const Range& range) {
  return "expected " + std::to_string(range.least) + " to " + std::to_string(range.most) +
         std::string(range.meaning);
}

std::optional<uint64_t> decimal(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stopped != end || error != std::errc()) return std::nullopt;
  return value;
}

std::string without_zeros(std::string_view text, const Range& range) {
  const std::optional<uint64_t> value = decimal(text);
  if (!value || *value < range.least || *value > range.most) return "";
  return ": write " + std::to_string(*value);
}

// The code for a number of bytes or of Gb/s that was written in its place.
std::string code_of(std::string_view text, const Range& range) {
  for (uint64_t code = range.least; range.units != nullptr && code <= range.most; ++code)
    if (text == range.units(code)) return ": write " + std::to_string(code);
  return "";
}

std::string bytes_of_mtu(uint64_t code) { return std::to_string(uint64_t{128} << code); }
std::string gbps_of_rate(uint64_t code) { return gbps(*rate_of(code)); }

// Decimal or 0x; a zero in front would make it octal.
Result<uint64_t> read_number(const Word& word, const Range& range) {
  const std::string_view text = word.text;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool octal = text.size() > 1 && text.front() == '0' && !hexadecimal;
  if (octal) {
    return wrong(word.position,
                 quoted(text) + " starts with 0, which OpenSM reads as octal: " + text_of(range) +
                     ", decimal or 0x and hex digits" + without_zeros(text, range));
  }
  const std::optional<uint64_t> value = hexadecimal ? ib::parse_hex(text.substr(2)) : decimal(text);
  if (!value || *value < range.least || *value > range.most)
    return wrong(word.position, quoted(text) + ": " + text_of(range) + code_of(text, range));
  return *value;
}

// Fields are as wide as their ranges.
template <typename Field>
Status set(Field& field, const Entry& entry, const Range& range) {
  const Word word = TRY(value_of(entry));
  const uint64_t number = TRY(read_number(word, range));
  field = static_cast<Field>(number);
  return ok();
}

}  // namespace

Result<ib::PKey> read_pkey(const Word& word) {
  const auto refused = [&](const std::string& right) {
    return wrong(word.position, quoted(word.text) + " is not a P_Key of a partition: " + right);
  };
  const Result<ib::PKey> pkey = ib::PKey::parse(word.text);
  if (!pkey) return wrong(word.position, ib::PKey::parse_partition(word.text).error().text());
  if (pkey->partition() == 0) return refused("OpenSM would choose one: expected 0x0001 to 0x7fff");
  if (pkey->membership() == ib::Membership::full) {
    return refused("bit 15 is the membership bit: write 0x" + ib::hex(pkey->partition(), 4));
  }
  return *pkey;
}

Result<Membership> read_membership(const Word& word) {
  const std::optional<Membership> membership = parse_membership(word.text);
  if (membership) return *membership;
  return wrong(word.position, quoted(word.text) +
                                  " is not a membership: expected full, limited or both" +
                                  is_meant(word.text, {"full", "limited", "both"}));
}

Result<Word> value_of(const Entry& entry) {
  if (entry.value) return *entry.value;
  return wrong(entry.name.position, quoted(entry.name.text) + " has no value: expected " +
                                        std::string(entry.name.text) + "=...");
}

Status FlagReader::once(const Entry& entry) {
  if (seen_.insert(entry.name.text).second) return ok();
  return wrong(entry.name.position, quoted(entry.name.text) + " is listed twice");
}

Status FlagReader::set_scope(const Entry& entry) {
  const Word word = TRY(value_of(entry));
  const uint64_t scope = TRY(read_number(word, kScope));
  flags_.scopes = static_cast<uint16_t>(flags_.scopes | 1U << scope);
  return ok();
}

Result<bool> FlagReader::take(const Entry& entry) {
  const std::string_view name = entry.name.text;
  if (name == "scope") {
    TRY(set_scope(entry));  // may come more than once
    return true;
  }
  if (name == "mtu") {
    TRY(set(flags_.mtu, entry, kMtu));
  } else if (name == "rate") {
    TRY(set(flags_.rate, entry, kRate));
  } else if (name == "sl") {
    TRY(set(flags_.sl, entry, kSl));
  } else if (name == "Q_Key") {
    TRY(set(flags_.q_key, entry, kQKey));
  } else if (name == "TClass") {
    TRY(set(flags_.tclass, entry, kTClass));
  } else if (name == "FlowLabel") {
    TRY(set(flags_.flow_label, entry, kFlowLabel));
  } else {
    return false;
  }
  TRY(once(entry));
  return true;
}

Error FlagReader::unknown(const Entry& entry) const {
  return wrong(entry.name.position,
               quoted(entry.name.text) +
                   " is not a flag here: OpenSM would read it as another flag or ignore it" +
                   is_meant(entry.name.text, {"ipoib", "indx0", "defmember", "mtu", "rate", "sl",
                                              "scope", "Q_Key", "TClass", "FlowLabel"}));
}

}  // namespace ibpod::fabric
