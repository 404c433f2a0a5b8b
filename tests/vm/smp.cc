// Sends one subnet management packet, as the root of any node can, and prints the 64 bytes of the
// answer:
//
//   M_KEY=KEY smp DEVICE PATH ATTRIBUTE MODIFIER [DATA]
//
// The path is that of smpquery -D ("0" the port itself, "0,1,7" the node at port 7 of the switch),
// or "lid:7" for a packet that is routed by the LID; numbers are C's, DATA is hexadecimal and makes
// it a Set. Exit code 1: no answer, 2: a refusal.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <rdma/ib_user_mad.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

constexpr size_t data_bytes = 64;
constexpr uint8_t directed_route = 0x81;
constexpr uint8_t lid_routed = 0x01;
constexpr uint16_t permissive_lid = 0xffff;
constexpr uint8_t method_get = 1;
constexpr uint8_t method_set = 2;

struct Smp {
  uint8_t base_version = 1;
  uint8_t management_class = directed_route;
  uint8_t class_version = 1;
  uint8_t method = method_get;
  uint16_t status = 0;
  uint8_t hop_pointer = 0;
  uint8_t hop_count = 0;
  uint64_t transaction = 0;
  uint16_t attribute = 0;
  uint16_t reserved1 = 0;
  uint32_t modifier = 0;
  uint64_t m_key = 0;
  uint16_t source_lid = 0xffff;
  uint16_t destination_lid = 0xffff;
  uint8_t reserved2[28] = {};
  uint8_t data[data_bytes] = {};
  uint8_t initial_path[64] = {};
  uint8_t return_path[64] = {};
};
static_assert(sizeof(Smp) == 256);

struct Message {
  ib_user_mad_hdr header = {};
  Smp smp;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "smp: %s: %s\n", what, std::strerror(errno));
  std::exit(3);
}

std::string umad_of(const std::string& device) {
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband_mad")) {
    const std::string file = entry.path().filename().string();
    std::string name;
    std::ifstream(entry.path() / "ibdev") >> name;
    if (name == device && file.starts_with("umad")) return "/dev/infiniband/" + file;
  }
  errno = ENODEV;
  die(device.c_str());
}

// Returns the LID to send it to, in network byte order.
uint16_t set_lid(Smp& smp, const char* lid) {
  smp.management_class = lid_routed;
  smp.source_lid = smp.destination_lid = 0;  // reserved there
  return htons(static_cast<uint16_t>(std::strtoul(lid, nullptr, 0)));
}

uint16_t set_path(Smp& smp, const char* path) {
  if (std::strncmp(path, "lid:", 4) == 0) return set_lid(smp, path + 4);
  char* rest = nullptr;
  std::strtoul(path, &rest, 0);  // the first one is the node itself
  while (*rest == ',' && smp.hop_count + 1U < sizeof smp.initial_path) {
    const auto port = std::strtoul(rest + 1, &rest, 0);
    smp.initial_path[++smp.hop_count] = static_cast<uint8_t>(port);
  }
  return permissive_lid;
}

void set_data(Smp& smp, const std::string& hex) {
  smp.method = method_set;
  for (size_t i = 0; i < data_bytes && 2 * i + 1 < hex.size(); ++i)
    smp.data[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
}

int open_agent(const std::string& device, uint8_t management_class, uint32_t& id) {
  const int fd = ::open(umad_of(device).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) die("open");
  ib_user_mad_reg_req request = {};
  request.qpn = 0;
  request.mgmt_class = management_class;
  request.mgmt_class_version = 1;
  if (::ioctl(fd, IB_USER_MAD_ENABLE_PKEY) != 0) die("enable P_Key");
  if (::ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &request) != 0) die("register");
  id = request.id;
  return fd;
}

int answer(int fd) {
  Message message;
  if (::read(fd, &message, sizeof message) < 0) die("read");
  if (message.header.status != 0) {
    std::puts("no answer");
    return 1;
  }
  const unsigned status = ntohs(message.smp.status) & 0x7fffU;
  if (status != 0) {
    std::printf("refused with status %#x\n", status);
    return 2;
  }
  for (const uint8_t byte : message.smp.data) std::printf("%02x", byte);
  std::puts("");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    std::fputs("usage: smp DEVICE PATH ATTRIBUTE MODIFIER [DATA]\n", stderr);
    return 3;
  }
  Message message;
  const char* m_key = std::getenv("M_KEY");
  message.header.lid = set_path(message.smp, arguments[2]);
  message.smp.attribute = htons(static_cast<uint16_t>(std::strtoul(arguments[3], nullptr, 0)));
  message.smp.modifier = htonl(static_cast<uint32_t>(std::strtoul(arguments[4], nullptr, 0)));
  message.smp.m_key = m_key == nullptr ? 0 : htobe64(std::strtoull(m_key, nullptr, 0));
  message.smp.transaction = htobe64(static_cast<uint64_t>(::getpid()));
  if (count > 5) set_data(message.smp, arguments[5]);
  const int fd = open_agent(arguments[1], message.smp.management_class, message.header.id);
  const char* timeout_ms = std::getenv("SMP_TIMEOUT_MS");
  message.header.timeout_ms =
      timeout_ms == nullptr ? 5000 : static_cast<uint32_t>(std::strtoul(timeout_ms, nullptr, 0));
  if (::write(fd, &message, sizeof message) == sizeof message) return answer(fd);
  if (errno != EINVAL) die("write");
  std::puts("no answer");  // of the port's own agent, which the kernel asks at once
  return 1;
}
