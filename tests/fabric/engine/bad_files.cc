#include "tests/fabric/engine/bad_files.h"

#include <utility>

namespace ibpod {
namespace {

const std::string kDefault = "Default=0x7fff, indx0, ipoib : ALL=limited, SELF=full;\n";
// Port of h2.
const std::string kPort = "0x0000000000100005";

BadFile behind(const char* name, const std::string& text, Effect effect) {
  return {name, kDefault + text, effect, "", text};
}
// Read as if `as` stood there.
BadFile misread(const char* name, const std::string& text, const std::string& as) {
  return {name, kDefault + text, Effect::misreads, kDefault + as, text};
}

// So long that OpenSM's buffer of 4,095 bytes ends within a GUID.
std::string long_line() {
  std::string line = "a=0x1 : " + kPort + "=full,";
  line.append(4094 - line.size() - 12, ' ');
  return line + "0x0000000000100007=full;\n";
}

// The whole is a comment of which OpenSM takes the end for a definition.
std::string long_comment() { return "#" + std::string(4093, 'x') + "z=0x5 : ALL=full;\n"; }

std::vector<BadFile> whole_files() {
  return {
      {"no file", std::nullopt, Effect::opens},
      {"an empty file", "", Effect::opens},
      {"comments only", "# nothing\n", Effect::opens},
      {"no colon", "Default=0x7fff ALL=full;\n", Effect::opens},
      {"a head over two lines", "Default=0x7fff,\n ipoib : ALL=limited;\n", Effect::opens},
      {"carriage returns", "Default=0x7fff : ALL=limited, SELF=full;\r\na=0x1 : ALL;\r\n",
       Effect::opens},
      {"a byte order mark", "\xef\xbb\xbf# x\n" + kDefault, Effect::opens},
      {"a P_Key without 0x", "Default=7fff : ALL=limited;\n", Effect::opens},
      {"a guide's file",
       "Default=0x7fff,ipoib:ALL=full\npkey1,0x8001:" + kPort + ";0x0000000000100007;\n",
       Effect::opens},
  };
}

std::vector<BadFile> bad_members() {
  return {
      behind("a GUID without 0x", "a=0x1 : 0002c90300001234=full;\n", Effect::opens),
      behind("a GUID with colons", "a=0x1 : 00:02:c9:03:00:00:12:34=full;\n", Effect::opens),
      behind("GUID 0", "a=0x1 : 0x0=full;\n", Effect::opens),
      behind("a port's name", "a=0x1 : h2=full;\n", Effect::opens),
      behind("the ';' twice", "a=0x1 : " + kPort + "=full;;\n", Effect::opens),
      behind("a ';' of its own", "a=0x1 : " + kPort + "=full\n;\n", Effect::opens),
      behind("a line that is too long", long_line(), Effect::opens),
      behind("a ';' that is missing", "a=0x1 : " + kPort + "=full\nb=0x2 : ALL;\n", Effect::opens),
      misread("a missing ';' before A", "a=0x1 : " + kPort + "=full\nA=0x2 : SELF;\n",
              "a=0x1 : ALL=limited;\n"),
      misread("the start of ALL", "a=0x1 : A=full;\n", "a=0x1 : ALL=full;\n"),
      misread("a decimal number", "a=0x1 : 1048581=full;\n", "a=0x1 : " + kPort + "=full;\n"),
      misread("a GUID that nobody has", "a=0x1 : 0xdead=full;\n", ""),
      behind("mgid without a value", "a=0x1 : mgid, " + kPort + "=full;\n", Effect::ends),
  };
}

std::vector<BadFile> bad_words() {
  const std::string full = kPort + "=full;\n";
  return {
      misread("fulll", "a=0x1 : " + kPort + "=fulll;\n", "a=0x1 : " + kPort + "=limited;\n"),
      misread("the start of full", "a=0x1 : " + kPort + "=f;\n", "a=0x1 : " + full),
      misread("a membership that is missing", "a=0x1 : " + kPort + "=;\n", "a=0x1 : " + full),
      misread("a P_Key of a full member", "a=0x8001 : " + full, "a=0x1 : " + full),
      misread("a P_Key of 17 bits", "a=0x18005 : " + full, "a=0x5 : " + full),
      misread("no P_Key", "a : " + full, "a=0x1 : " + full),
      misread("P_Key 0x8000", "a=0x8000 : " + full, "a=0x1 : " + full),
      misread("a P_Key twice", "a=0x1 : " + full + "b=0x1 : " + kPort + ";\n",
              "a=0x1 : " + kPort + "=limited;\n"),
      misread("a flag that is none", "a=0x1, index0 : " + full, "a=0x1 : " + full),
      misread("a comment that is too long", long_comment(), "z=0x5 : ALL=full;\n"),
      {"P_Key -1", kDefault + "a=-1 : " + full, Effect::misreads,
       "Default=0x7fff : ALL=limited, SELF=full, " + kPort + "=full;\n", "a=-1 : " + full},
      {"no rule for the default partition", "a=0x1 : " + full, Effect::misreads,
       kDefault + "a=0x1 : " + full},
  };
}

}  // namespace

std::vector<BadFile> bad_files() {
  std::vector<BadFile> all = whole_files();
  for (auto more : {bad_members, bad_words}) {
    for (BadFile& file : more()) all.push_back(std::move(file));
  }
  return all;
}

}  // namespace ibpod
