#include "lib/node/records.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::node {
namespace {

const ib::PciAddress kVf = ib::PciAddress::parse("0000:3b:00.2").value();
const ib::PciAddress kOther = ib::PciAddress::parse("0000:3b:00.3").value();
const Deadline kNow = Deadline::in(Duration(0));

Record record(const ib::PciAddress& device, const std::string& container) {
  Record made;
  made.device = device;
  made.container_id = container;
  made.ifname = "net1";
  return made;
}

struct Node {
  TempFolder folder;
  Records records{folder.path()};
  Path attachments = folder.path() / "attachments";
  Path device = attachments / kVf.text();
};

TEST_CASE("a record is found by device, by attachment and among all") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  REQUIRE(node.records.write(record(kVf, "c2")));
  REQUIRE(node.records.write(record(kOther, "c1")));
  const RecordName first{kVf.text(), "c1", "net1"};
  const RecordName second{kVf.text(), "c2", "net1"};
  const RecordName third{kOther.text(), "c1", "net1"};
  CHECK(first.text() == "0000:3b:00.2/c1:net1");
  CHECK(path_exists(node.device / "c1:net1.json"));
  CHECK(node.records.in_folder(kVf.text()).value() == std::vector{first, second});
  CHECK(node.records.of_attachment("c1", "net1").value() == std::vector{first, third});
  CHECK(node.records.of_attachment("c1", "net2").value().empty());
  CHECK(node.records.all().value() == std::vector{first, second, third});
  CHECK(node.records.read(second).value() == record(kVf, "c2"));
}

TEST_CASE("a record that another user can have written is not obeyed, and stays") {
  const Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  const RecordName name{kVf.text(), "c1", "net1"};
  REQUIRE(::chmod((node.device / "c1:net1.json").c_str(), 0666) == 0);
  CHECK(node.records.read(name).error().code() == Code::denied);
  CHECK(node.records.all().value() == std::vector{name});
}

TEST_CASE("nothing is recorded where there is no state folder yet") {
  const TempFolder folder;
  const Records records(folder.path() / "not" / "made");
  CHECK(records.all().value().empty());
  CHECK(records.in_folder(kVf.text()).value().empty());
  CHECK(records.read({kVf.text(), "c1", "net1"}).error().code() == Code::not_found);
  CHECK(records.remove({kVf.text(), "c1", "net1"}));
  CHECK_FALSE(path_exists(folder.path() / "not"));
}

TEST_CASE("names with dots and dashes are read back from their files") {
  Node node;
  Record odd = record(kVf, "a.json-_.b");
  odd.ifname = "net.json";
  REQUIRE(node.records.write(odd));
  CHECK(node.records.all().value() == std::vector{name_of(odd)});
  CHECK(node.records.read(name_of(odd)).value() == odd);
}

TEST_CASE("a damaged file is listed, and says so when it is read") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  const RecordName name{kVf.text(), "c1", "net1"};
  for (const char* content : {"", "{", "{}", "\xff\xfe"}) {
    CAPTURE(content);
    REQUIRE(write_file_atomically(node.device / "c1:net1.json", content));
    CHECK(node.records.in_folder(kVf.text()).value() == std::vector{name});
    const Error error = node.records.read(name).error();
    CHECK(error.code() == Code::invalid);
    CHECK(error.text().starts_with("record " + (node.device / "c1:net1.json").string() + ": "));
  }
}

TEST_CASE("a record under another name than its own is damaged") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  std::filesystem::rename(node.device / "c1:net1.json", node.device / "c2:net1.json");
  const Error error = node.records.read({kVf.text(), "c2", "net1"}).error();
  CHECK(error.code() == Code::invalid);
  CHECK(error.text() == "record " + (node.device / "c2:net1.json").string() +
                            ": it describes 0000:3b:00.2/c1:net1");
}

TEST_CASE("what is no record is not listed, and the lock clears what a killed writer left") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  node.folder.write("attachments/0000:3b:00.2/.c1:net1.json.4711", "{");
  node.folder.write("attachments/0000:3b:00.2/notes", "of an administrator");
  std::filesystem::create_directory(node.attachments / "ib0");
  node.folder.write("attachments/ib0/c1:net1.json", "of another plugin");
  CHECK(node.records.all().value().size() == 1);
  REQUIRE(node.records.remove({kVf.text(), "c1", "net1"}));
  CHECK(node.records.lock(kVf.text(), kNow));
  CHECK(list_folder(node.device).value() == std::vector<std::string>{"notes"});
  CHECK(path_exists(node.attachments / "ib0" / "c1:net1.json"));
}

TEST_CASE("tidying takes away folders that hold no record, and no other") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  std::filesystem::create_directory(node.attachments / kOther.text());
  node.folder.write("attachments/0000:3b:00.3/.c1:net1.json.4711", "{");
  REQUIRE(node.records.tidy());
  CHECK(list_folder(node.attachments).value() == std::vector<std::string>{kVf.text()});
  CHECK(node.records.all().value().size() == 1);
}

TEST_CASE("tidy() leaves a locked folder alone") {
  Node node;
  std::filesystem::create_directories(node.device);
  const FolderLock lock = node.records.lock(kVf.text(), kNow).value();
  CHECK(node.records.tidy());
  CHECK(node.records.tidy(kVf.text()));
  CHECK(path_exists(node.device));
}

TEST_CASE("the lock of a device takes its folder away when that is empty") {
  Node node;
  {
    const FolderLock lock = node.records.lock(kVf.text(), kNow).value();
    CHECK(node.records.lock(kVf.text(), kNow).error().code() == Code::unavailable);
    CHECK(node.records.lock(kOther.text(), kNow));
    REQUIRE(node.records.write(record(kVf, "c1")));
  }
  CHECK(path_exists(node.device));
  {
    const FolderLock lock = node.records.lock(kVf.text(), kNow).value();
    REQUIRE(node.records.remove({kVf.text(), "c1", "net1"}));
  }
  CHECK_FALSE(path_exists(node.device));
}

TEST_CASE("a watch tells of a record that goes") {
  Node node;
  REQUIRE(node.records.write(record(kVf, "c1")));
  FolderWatch watch = node.records.watch(kVf.text()).value();
  CHECK_FALSE(watch.wait(kNow).value());
  REQUIRE(node.records.remove({kVf.text(), "c1", "net1"}));
  CHECK(watch.wait(Deadline::in(Duration(1000))).value());
}

TEST_CASE("a record that would not read back as it is, is not written") {
  Node node;
  Record odd = record(kVf, "c1");
  odd.cni_args = "NAME=\xff";
  CHECK(node.records.write(odd).error().code() == Code::invalid);
  CHECK(node.records.all().value().empty());
}

TEST_CASE("whether records can be kept is tried out, and leaves nothing") {
  const TempFolder folder;
  const Records records(folder.path());
  CHECK(records.check_writable());
  CHECK(list_folder(folder.path() / "attachments").value().empty());
  const Records nowhere(folder.write("file", "not a folder"));
  CHECK_FALSE(nowhere.check_writable());
}

}  // namespace
}  // namespace ibpod::node
