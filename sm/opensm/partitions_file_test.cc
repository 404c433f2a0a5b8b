#include "sm/opensm/partitions_file.h"

#include "tests/support/temp_folder.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using Found = PartitionsFile::Found;
constexpr fabric::OpenSmOptions kOptions{true, false};
constexpr ib::Guid kPort{0x0002c90300001234};

std::vector<fabric::PartitionDefinition> with(uint16_t pkey) {
  fabric::PartitionDefinition record;
  record.name = "tenant";
  record.pkey = ib::PKey(pkey);
  record.members = {{kPort, fabric::Membership::full}};
  return {fabric::default_definition(), record};
}

// A full disk: existing files can still be moved.
class FullDisk final : public Disk {
 public:
  Status write(const Path& path, std::string_view content) override {
    if (!full) return Disk::write(path, content);
    return Error(Code::internal, "write: No space left on device");
  }
  bool full = false;
};

// Another user saves a file just before it is replaced.
class BusyDisk final : public Disk {
 public:
  Result<bool> exchange(const Path& one, const Path& other) override {
    if (const auto text = std::exchange(saved, std::nullopt)) {
      TRY(Disk::write(other.string() + ".edit", *text));
      TRY(Disk::replace(other.string() + ".edit", other));
    }
    return Disk::exchange(one, other);
  }
  std::optional<std::string> saved;
};

// The n-th step fails, stops halfway, or is the last before the process ends.
class FaultyDisk final : public Disk {
 public:
  enum class Fault { fails, torn, ends };
  FaultyDisk(int step, Fault fault) : left_(step), fault_(fault) {}
  bool reached() const { return left_ < 0; }

  Result<std::string> read(const Path& path) override {
    if (strikes()) return Error(Code::internal, "read: Input/output error");
    return Disk::read(path);
  }
  Status write(const Path& path, std::string_view content) override {
    if (!strikes()) return Disk::write(path, content);
    if (fault_ != Fault::torn) return Error(Code::internal, "write: No space left on device");
    return Disk::write(path, content.substr(0, content.size() / 2));
  }
  Status replace(const Path& from, const Path& to) override {
    if (!strikes()) return Disk::replace(from, to);
    // The rename may have happened without a flush.
    if (fault_ == Fault::torn) (void)Disk::replace(from, to);  // the test checks the files on disk
    return Error(Code::internal, "rename: Input/output error");
  }
  Result<bool> exchange(const Path& one, const Path& other) override {
    if (!strikes()) return Disk::exchange(one, other);
    if (fault_ == Fault::torn) (void)Disk::exchange(one, other);  // as above
    return Error(Code::internal, "rename: Input/output error");
  }

 private:
  bool strikes() {
    --left_;
    return left_ == -1 || (left_ < 0 && fault_ == Fault::ends);
  }
  int left_;
  Fault fault_;
};

struct Bed {
  TempFolder folder;
  Path path = folder.path() / "partitions.conf";
  Disk disk;

  PartitionsFile file() { return PartitionsFile(disk, path, kOptions); }
  PartitionsFile opened() {
    PartitionsFile opened = file();
    REQUIRE(opened.open());
    return opened;
  }
  std::string text() const { return read_file(path).value(); }
  // True if OpenSM can read the file: a missing or bad one opens the fabric.
  bool good() const {
    const auto text = read_file(path);
    return text && fabric::read_partitions_conf(*text, kOptions).ok();
  }
  bool has(uint16_t pkey) const {
    const auto definitions = fabric::read_partitions_conf(text(), kOptions).value();
    return definitions.back().pkey == ib::PKey(pkey);
  }
  void replace(const std::string& text) const {
    folder.write("edit", text);
    std::filesystem::rename(folder.path() / "edit", path);
  }
};

TEST_CASE("what is placed is there, and for the next process") {
  Bed bed;
  auto file = bed.opened();
  CHECK(!file.in_place());
  REQUIRE(file.place(with(0x10)));
  CHECK(file.in_place());
  CHECK(bed.has(0x10));
  CHECK(file.inspect() == Found::ours);
  auto next = bed.opened();
  CHECK(next.in_place());
  CHECK(next.inspect() == Found::ours);
  CHECK(next.refusal().empty());
  REQUIRE(next.place(with(0x11)));
  CHECK(bed.has(0x11));
}

TEST_CASE("the default partition's key has index 0 where no other asks for it") {
  Bed bed;
  REQUIRE(bed.opened().place(with(0x10)));
  CHECK(fabric::read_partitions_conf(bed.text(), kOptions)->front().index0);
}

TEST_CASE("what cannot be written as it is meant is refused, and the last one stays") {
  Bed bed;
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  auto twice = with(0x11);
  twice.push_back(twice.back());
  CHECK(file.place(twice).error().code() == Code::invalid);
  auto odd = with(0x11);
  odd.back().name = "a\nb";
  CHECK(file.place(odd).error().code() == Code::invalid);
  CHECK(file.place({}).error().code() == Code::invalid);
  CHECK(bed.has(0x10));
  CHECK(file.inspect() == Found::ours);
}

TEST_CASE("an edit of anything but the administrator's section is undone") {
  for (const std::string& edit :
       {std::string(), std::string("Default=0x7fff : ALL=full;\n"), std::string("x\n")}) {
    Bed bed;
    auto file = bed.opened();
    REQUIRE(file.place(with(0x10)));
    const std::string before = bed.text();
    bed.replace(edit);
    CHECK(file.inspect() == Found::foreign);
    CHECK(file.refusal().find("partitions.conf.refused") != std::string::npos);
    CHECK(read_file(bed.folder.path() / "partitions.conf.refused").value() == edit);
    REQUIRE(file.restore());
    CHECK(bed.text() == before);
    CHECK(file.inspect() == Found::ours);
  }
}

TEST_CASE("a file that is removed comes back") {
  Bed bed;
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  std::filesystem::remove(bed.path);
  CHECK(file.inspect() == Found::foreign);
  REQUIRE(file.restore());
  CHECK(bed.has(0x10));
}

TEST_CASE("the administrator's section is taken over and kept byte for byte") {
  const std::string section = "# storage\nstore=0x200 : SELF=full ;\t# as it is\n\n";
  Bed bed;
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  bed.replace(bed.text() + section);
  CHECK(file.inspect() == Found::edited);
  CHECK(file.section()->partitions.size() == 1);
  REQUIRE(file.place(with(0x11)));
  CHECK(fabric::manual_section(bed.text()) == section);
  auto next = bed.opened();
  CHECK(next.section()->text == section);
  CHECK(next.place(with(0x200)).error().code() == Code::exists);
}

TEST_CASE("a file of the first version is taken up as it is, with the administrator's section") {
  const Path kept = "tests/data/first_version/sm/opensm/partitions.conf";
  Bed bed;
  std::filesystem::copy(kept, bed.path);
  auto file = bed.opened();
  CHECK(file.in_place());
  CHECK(file.inspect() == Found::ours);
  CHECK(file.section()->text == "storage=0x0200 : 0x0002c90300001234=full;\n");
  CHECK(bed.text() == read_file(kept).value());
  fabric::PartitionDefinition blue = with(0x0100).back();
  blue.name = "blue";
  blue.index0 = blue.ipoib = true;
  blue.group.mtu = fabric::Mtu::mtu_4096;
  blue.default_membership = fabric::Membership::full;
  blue.members.push_back({ib::Guid(0x0200000000000001), fabric::Membership::both});
  fabric::PartitionDefinition red;
  red.name = "red";
  red.pkey = ib::PKey(0x0010);
  const auto read = fabric::read_partitions_conf(bed.text(), kOptions).value();
  REQUIRE(read.size() == 4);
  CHECK(read[1] == blue);
  CHECK(read[2] == red);
  REQUIRE(file.place({fabric::default_definition(), blue, red}));
  CHECK(bed.text() == read_file(kept).value());
}

TEST_CASE("an edit of the section that is wrong is undone, and the reason told") {
  Bed bed;
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  for (const std::string& wrong : {std::string("store=0x200 : 0002c90300001234;\n"),
                                   std::string("tenant=0x10 : ALL=full;\n")}) {
    bed.replace(bed.text() + wrong);
    CHECK(file.inspect() == Found::foreign);
    CHECK(!file.refusal().empty());
    REQUIRE(file.restore());
    CHECK(file.section()->text.empty());
  }
  REQUIRE(file.place(with(0x12)));
  CHECK(!file.refusal().empty());
  bed.replace(bed.text() + "store=0x200 : SELF;\n");
  CHECK(file.inspect() == Found::edited);
  CHECK(file.refusal().empty());
}

TEST_CASE("that an edit was undone is told until it is corrected, or people take it back") {
  Bed bed;
  const Path refused = bed.folder.path() / "partitions.conf.refused";
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  const auto undone = [&] {
    file.check_refused();
    return !file.refusal().empty();
  };
  for (const bool gone : {false, true}) {
    CAPTURE(gone);
    if (gone)
      std::filesystem::remove(bed.folder.path() / "partitions.conf");
    else
      bed.replace(bed.text() + "store=0x8200 : SELF;\n");
    CHECK(file.inspect() == Found::foreign);
    REQUIRE(file.restore());
    CHECK(undone());
    CHECK(file.inspect() == Found::ours);
    CHECK(undone());
    REQUIRE(std::filesystem::remove(refused));
    CHECK_FALSE(undone());
  }
  bed.replace(bed.text() + "store=0x8200 : SELF;\n");
  CHECK(file.inspect() == Found::foreign);
  REQUIRE(file.restore());
  std::filesystem::remove(bed.folder.path() / "partitions.conf");
  CHECK(file.inspect() == Found::foreign);
  CHECK(read_file(refused)->find("0x8200") != std::string::npos);  // the edit is kept
}

TEST_CASE("that an edit was undone is told after a restart, too, until it is corrected") {
  Bed bed;
  const Path refused = bed.folder.path() / "partitions.conf.refused";
  auto file = bed.opened();
  REQUIRE(file.place(with(0x10)));
  const std::string wrong = bed.text() + "store=0x8200 : SELF;\n";
  bed.replace(wrong);
  CHECK(file.inspect() == Found::foreign);
  REQUIRE(file.restore());
  auto next = bed.opened();
  CHECK(next.refusal().find(refused.string()) != std::string::npos);
  SUBCASE("by a later edit") {
    bed.replace(bed.text() + "store=0x200 : SELF;\n");
    CHECK(next.inspect() == Found::edited);
    CHECK(read_file(bed.folder.path() / "partitions.conf.corrected").value() == wrong);
  }
  SUBCASE("by its removal") {
    std::filesystem::remove(refused);
    next.check_refused();
  }
  CHECK(next.refusal().empty());
  CHECK(bed.opened().refusal().empty());
}

TEST_CASE("edits while ibpod-sm was down: those of the section stay, all others are undone") {
  Bed bed;
  REQUIRE(bed.opened().place(with(0x10)));
  const std::string ours = bed.text();
  bed.replace(ours + "store=0x200 : SELF;\n");
  CHECK(bed.opened().section()->partitions.size() == 1);
  bed.replace("Default=0x7fff : ALL=full;\n");
  auto file = bed.opened();
  CHECK(!file.refusal().empty());
  CHECK(bed.text() == ours + "store=0x200 : SELF;\n");
  std::filesystem::remove(bed.folder.path() / "partitions.conf.good");
  CHECK(bed.opened().in_place());
  CHECK(path_exists(bed.folder.path() / "partitions.conf.good"));
}

TEST_CASE("an edit that is saved while a version is put into place is not lost") {
  const std::string section = "store=0x200 : SELF=full;\n";
  Bed bed;
  BusyDisk disk;
  PartitionsFile file(disk, bed.path, kOptions);
  REQUIRE(file.open());
  REQUIRE(file.place(with(0x10)));
  disk.saved = bed.text() + section;
  CHECK(file.place(with(0x11)).value() == Found::edited);
  CHECK(bed.has(0x200));
  CHECK(bed.text().find("tenant=0x0011") != std::string::npos);
  CHECK(fabric::manual_section(bed.text()) == section);
  CHECK(file.section()->partitions.size() == 1);
  CHECK(file.inspect() == Found::ours);
  CHECK(bed.opened().section()->text == section);
  // Nor is an edit lost that is saved while another is undone.
  const std::string right = bed.text() + "more=0x201 : SELF;\n";
  bed.replace("x\n");
  CHECK(file.inspect() == Found::foreign);
  disk.saved = right;
  CHECK(file.restore().value() == Found::edited);
  CHECK(bed.text() == right);
  CHECK(file.refusal().empty());
  CHECK(file.inspect() == Found::ours);
}

TEST_CASE("one that cannot stay is told of, also where it is wrong only beside the new version") {
  for (const std::string& wrong : {std::string("x\n"), std::string("other=0x11 : SELF=full;\n")}) {
    Bed bed;
    BusyDisk disk;
    PartitionsFile file(disk, bed.path, kOptions);
    REQUIRE(file.open());
    REQUIRE(file.place(with(0x10)));
    disk.saved = bed.text() + wrong;
    CHECK(file.place(with(0x11)).value() == Found::foreign);
    CHECK(bed.has(0x11));
    CHECK(file.refusal().find("was undone") != std::string::npos);
    CHECK(read_file(bed.folder.path() / "partitions.conf.refused")->ends_with(wrong));
    CHECK(file.inspect() == Found::ours);
    // inspect() reports a change only once.
    bed.replace("y\n");
    CHECK(file.inspect() == Found::foreign);
    CHECK(file.restore().value() == Found::ours);
    CHECK(!path_exists(bed.folder.path() / "partitions.conf.next"));
  }
}

TEST_CASE("on a full disk the last file comes back") {
  Bed bed;
  FullDisk disk;
  PartitionsFile file(disk, bed.path, kOptions);
  REQUIRE(file.open());
  REQUIRE(file.place(with(0x10)));
  const std::string before = bed.text();
  bed.replace("x\n");
  disk.full = true;
  CHECK(file.inspect() == Found::foreign);
  CHECK(file.restore().value() == Found::ours);
  CHECK(bed.text() == before);
  CHECK(file.inspect() == Found::ours);
  // There was no room for the copy: its absence does not mean that a user has removed it.
  file.check_refused();
  CHECK(file.refusal().find("was undone") != std::string::npos);
  disk.full = false;
  REQUIRE(file.place(with(0x11)));
  CHECK(bed.has(0x11));
  CHECK(file.refusal().empty());  // there is no copy to remove
  CHECK(path_exists(bed.folder.path() / "partitions.conf.good"));
}

TEST_CASE("a file that ibpod-sm did not write stays in place for OpenSM") {
  Bed bed;
  bed.replace("Default=0x7fff : ALL=full;\nmine=0x1 : ALL;\n");
  auto file = bed.file();
  const Error error = file.open().error();
  CHECK(error.code() == Code::denied);
  CHECK(error.text().find("was not written by ibpod-sm, or is damaged: copy it") !=
        std::string::npos);
  CHECK(bed.text() == "Default=0x7fff : ALL=full;\nmine=0x1 : ALL;\n");
  bed.replace("");
  REQUIRE(file.open());
  CHECK(!file.in_place());
}

TEST_CASE("a file of ours that needs an option which is off now says which, and where") {
  const fabric::OpenSmOptions all{true, true};
  for (const bool both : {false, true}) {
    for (const bool qos : {false, true}) {
      if (!both && !qos) continue;
      Bed bed;
      auto definitions = with(0x10);
      if (both) definitions.back().members[0].membership = fabric::Membership::both;
      if (qos) definitions.back().group.sl = 3;
      PartitionsFile before(bed.disk, bed.path, all);
      REQUIRE(before.open());
      REQUIRE(before.place(definitions));
      const std::string text = bed.text();
      PartitionsFile file(bed.disk, bed.path, {false, false});
      const Error error = file.open().error();
      CAPTURE(error.text());
      CHECK(error.code() == Code::denied);
      CHECK((error.text().find("`allowBothPkeys`") != std::string::npos) == both);
      CHECK((error.text().find("`qos`") != std::string::npos) == qos);
      CHECK(error.text().find("line ") != std::string::npos);
      CHECK(error.text().find("was not written by") == std::string::npos);
      CHECK(bed.text() == text);
      CHECK(PartitionsFile(bed.disk, bed.path, all).open());
    }
  }
}

// OpenSM may read the file at any time from here on, so it is good after each step.
TEST_CASE("whichever step of the disk fails, is torn or is the last: a good file is in place") {
  for (const auto fault :
       {FaultyDisk::Fault::fails, FaultyDisk::Fault::torn, FaultyDisk::Fault::ends}) {
    int steps = 0;
    for (bool reached = true; reached; ++steps) {
      CAPTURE(static_cast<int>(fault));
      CAPTURE(steps);
      Bed bed;
      REQUIRE(bed.opened().place(with(0x10)));
      bed.replace(bed.text() + "store=0x200 : SELF;\n");
      FaultyDisk disk(steps, fault);
      PartitionsFile file(disk, bed.path, kOptions);
      Status done = file.open();
      CHECK(bed.good());
      if (done) {
        const auto placed = file.place(with(0x11));
        if (!placed) done = placed.error();
      }
      CHECK(bed.good());
      // The administrator's edit stays, or its refusal is reported.
      if (done) CHECK(bed.has(0x200) == file.refusal().empty());
      reached = disk.reached();
      // The next process can go on.
      auto next = bed.opened();
      CHECK(bed.good());
      REQUIRE(next.place(with(0x12)));
      CHECK(bed.good());
      CHECK(next.inspect() == Found::ours);
      // An incomplete write is not taken for an edit.
      if (fault == FaultyDisk::Fault::ends) CHECK(next.refusal().empty());
    }
    CHECK(steps > 5);
  }
}

TEST_CASE("whichever step fails while an edit is undone, a later try does it") {
  for (const auto fault : {FaultyDisk::Fault::fails, FaultyDisk::Fault::torn}) {
    int reached = 0;
    for (int step = 0; step < 12; ++step) {
      CAPTURE(step);
      Bed bed;
      REQUIRE(bed.opened().place(with(0x10)));
      const std::string before = bed.text();
      FaultyDisk disk(3 + step, fault);
      PartitionsFile file(disk, bed.path, kOptions);
      REQUIRE(file.open());
      bed.replace("x\n");
      for (int tries = 0; tries < 3 && bed.text() != before; ++tries) {
        CHECK(file.inspect() == Found::foreign);
        (void)file.restore();  // the test checks the files on disk
      }
      CHECK(bed.text() == before);
      reached += disk.reached() ? 1 : 0;
    }
    CHECK(reached > 5);
  }
}

TEST_CASE("the file grows to its limit, and one that is beyond it may only become smaller") {
  CHECK(check_growth(0, fabric::kMostBytes));
  const Status grown = check_growth(fabric::kMostBytes, fabric::kMostBytes + 1);
  REQUIRE_FALSE(grown);
  CHECK(grown.error().code() == Code::busy);
  CHECK(grown.error().text().find(std::to_string(fabric::kMostBytes + 1)) != std::string::npos);
  CHECK(check_growth(fabric::kMostBytes + 2, fabric::kMostBytes + 2));
  CHECK(check_growth(fabric::kMostBytes + 2, fabric::kMostBytes + 1));
  CHECK_FALSE(check_growth(fabric::kMostBytes + 2, fabric::kMostBytes + 3));
}

// Such a file must be read, so that it can be replaced.
TEST_CASE("a file that is beyond the limit is still read back when it is written") {
  const TempFolder folder;
  Disk disk;
  const std::string large(fabric::kMostBytes + 1, '#');
  REQUIRE(disk.write(folder.path() / "next", large));
  CHECK(disk.read(folder.path() / "next").value() == large);
}

}  // namespace
}  // namespace ibpod::sm::opensm
