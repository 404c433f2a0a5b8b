#include "sm/engine/partitions_file.h"

#include "tests/support/temp_folder.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using Found = PartitionsFile::Found;
constexpr fabric::OpenSmOptions kOptions{true, false};
constexpr ib::Guid kPort{0x0002c90300001234};

std::vector<fabric::Partition> with(uint16_t pkey) {
  fabric::Partition tenant;
  tenant.name = "tenant";
  tenant.pkey = ib::PKey(pkey);
  tenant.members = {{kPort, fabric::Membership::full}};
  return {fabric::default_partition(), tenant};
}

// Fails, or tears, the n-th step; or it was the last before the end of the process.
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
    // The rename may have happened though it was not flushed.
    if (fault_ == Fault::torn) (void)Disk::replace(from, to);  // what is on disk is looked at
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
  // What OpenSM would make of it; no file, or a bad one, opens the fabric.
  bool good() const {
    const auto text = read_file(path);
    return text && fabric::read_partitions_conf(*text, kOptions).ok();
  }
  bool has(uint16_t pkey) const {
    const auto partitions = fabric::read_partitions_conf(text(), kOptions).value();
    return partitions.back().pkey == ib::PKey(pkey);
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
  CHECK(fabric::administrators_section(bed.text()) == section);
  auto next = bed.opened();
  CHECK(next.section()->text == section);
  CHECK(next.place(with(0x200)).error().code() == Code::exists);
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

TEST_CASE("while nobody was there: edits of the section stay, all others are undone") {
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

TEST_CASE("somebody else's file stays where it is") {
  Bed bed;
  bed.replace("Default=0x7fff : ALL=full;\nmine=0x1 : ALL;\n");
  auto file = bed.file();
  CHECK(file.open().error().code() == Code::denied);
  CHECK(bed.text() == "Default=0x7fff : ALL=full;\nmine=0x1 : ALL;\n");
  bed.replace("");
  REQUIRE(file.open());
  CHECK(!file.in_place());
}

// From here on OpenSM may read the file at any time: after each step there is a good one.
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
      if (done) done = file.place(with(0x11));
      CHECK(bed.good());
      // The administrator's edit stays, or he is told.
      if (done) CHECK(bed.has(0x200) == file.refusal().empty());
      reached = disk.reached();
      // The process that comes next finds its way.
      auto next = bed.opened();
      CHECK(bed.good());
      REQUIRE(next.place(with(0x12)));
      CHECK(bed.good());
      CHECK(next.inspect() == Found::ours);
    }
    CHECK(steps > 5);
  }
}

TEST_CASE("whichever step fails while an edit is undone, a later try does it") {
  for (const auto fault : {FaultyDisk::Fault::fails, FaultyDisk::Fault::torn}) {
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
        (void)file.restore();  // what counts is what is on disk
      }
      CHECK(bed.text() == before);
    }
  }
}

}  // namespace
}  // namespace ibpod::sm
