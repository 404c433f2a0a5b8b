#include "lib/fabric/partitions_conf_syntax.h"

#include "lib/ib/hex.h"

#include <algorithm>

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
    const char c = line.text[i];
    if (c == '\r')
      return wrong(line.from(i).position,
                   "a carriage return, which OpenSM reads as part of a word: end lines with a "
                   "newline alone");
    if ((c >= 0 && c < ' ' && c != '\t') || c == 0x7f) {
      return wrong(line.from(i).position, "the control character 0x" +
                                              ib::hex(static_cast<uint8_t>(c), 2) +
                                              ": expected text, blanks and tabs");
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

}  // namespace ibpod::fabric
