// Rules for the metrics of every program, and for their document.
#pragma once

#include "lib/base/files.h"
#include "lib/http/metrics.h"

#include <set>
#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace ibpod {

inline std::string kind_name(http::Kind kind) {
  if (kind == http::Kind::counter) return "counter";
  return kind == http::Kind::gauge ? "gauge" : "histogram";
}

// A document lists all of them with kind and labels, in their order, and no other.
inline void check_document(std::string_view document, std::span<const http::Family> families) {
  size_t before = 0;
  for (const http::Family& family : families) {
    CAPTURE(family.name);
    std::string row = "\n| `" + std::string(family.name) + "` | " + kind_name(family.kind) + " |";
    for (const std::string_view label : family.labels) row.append(" `").append(label).append("`");
    row.append(" | ").append(family.help).append(" |\n");
    const size_t at = document.find(row);
    CHECK(at != document.npos);
    CHECK(at >= before);
    before = at;
  }
  size_t rows = 0;
  for (size_t at = 0; (at = document.find("\n| `ibpod_", at)) != document.npos; ++at) ++rows;
  CHECK(rows == families.size());
}

// A counter ends in _total, nothing else does.
inline void check_names(std::string_view prefix, std::span<const http::Family> families) {
  std::set<std::string_view> names;
  for (const http::Family& family : families) {
    CAPTURE(family.name);
    CHECK(family.name.starts_with(prefix));
    CHECK(family.name.ends_with("_total") == (family.kind == http::Kind::counter));
    CHECK(names.insert(family.name).second);
  }
}

}  // namespace ibpod
