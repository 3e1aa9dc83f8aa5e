// Frames and the handshake, as a peer that knows the secret and as one that does not.

#include "runtime/src/link.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cstring>
#include <ctime>
#include <thread>

#include "runtime/src/address.hpp"
#include "runtime/src/handshake.hpp"
#include "runtime/src/link_server.hpp"
#include "viaduct/runtime/error.hpp"

namespace {

using namespace viaduct;
using handshake::Greeting;
using link::Frame;
using link::Kind;

constexpr const char* kSecret = "the secret of this test";

link::Clock::time_point soon() { return link::Clock::now() + std::chrono::seconds(60); }

std::array<int, 2> pair_of_sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

link::Keys mirrored(const link::Keys& keys) { return {keys.receiving, keys.sending}; }

link::Keys some_keys() {
  link::Keys keys;
  fill_random(keys.sending);
  fill_random(keys.receiving);
  return keys;
}

Frame example() {
  Frame frame{Kind::put, 3, 7, -9, "a key"};
  frame.value.assign(5000, std::byte{0x5a});
  return frame;
}

TEST(Link, FramesArriveInOrderAndWhole) {
  const auto ends = pair_of_sockets();
  const link::Keys keys = some_keys();
  link::Link a(FileDescriptor{ends[0]}, keys);
  link::Link b(FileDescriptor{ends[1]}, mirrored(keys));
  for (std::uint32_t i = 0; i < 20; ++i) {
    Frame frame = example();
    frame.rank = i;
    a.send(frame);
  }
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto frame = b.receive_until(soon());
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->rank, i);
    EXPECT_EQ(frame->number, 7U);
    EXPECT_EQ(frame->cause, -9);
    EXPECT_EQ(frame->key, "a key");
    EXPECT_EQ(frame->value, example().value);
  }
  a.close();
  EXPECT_FALSE(b.receive_until(soon()).has_value());
  EXPECT_FALSE(b.is_open());
  EXPECT_TRUE(b.complaint().empty()) << b.complaint();
}

TEST(Link, FramesSentTogetherComeTogether) {
  const auto ends = pair_of_sockets();
  const link::Keys keys = some_keys();
  link::Link a(FileDescriptor{ends[0]}, keys);
  link::Link b(FileDescriptor{ends[1]}, mirrored(keys));
  const auto next = [&] {
    b.fill();
    return b.next();
  };
  {
    const link::Link::Together frames(a);
    a.send(example());
    EXPECT_FALSE(next().has_value());
    {
      const link::Link::Together inner(a);
      a.send(example());
    }
    EXPECT_FALSE(next().has_value());
  }
  EXPECT_TRUE(next().has_value());
  EXPECT_TRUE(next().has_value());
  EXPECT_FALSE(next().has_value());
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The time that it takes to take 40,000 frames when @p together of them have always come before
/// the first is taken.
double seconds_to_take(std::uint32_t together) {
  const auto ends = pair_of_sockets();
  const link::Keys keys = some_keys();
  link::Link a(FileDescriptor{ends[0]}, keys);
  link::Link b(FileDescriptor{ends[1]}, mirrored(keys));
  double seconds = 0;
  for (std::uint32_t taken = 0; taken < 40'000;) {
    for (std::uint32_t i = 0; i < together; ++i) {
      a.send({Kind::barrier, taken + i});
      b.fill();
    }
    while (a.wants_to_write()) {
      a.flush();
      b.fill();
    }
    const double start = processor_seconds();
    while (const auto frame = b.next()) {
      EXPECT_EQ(frame->rank, taken);
      ++taken;
    }
    seconds += processor_seconds() - start;
  }
  return seconds;
}

TEST(Link, AFrameTakesAsLongHoweverManyHaveCome) {
  EXPECT_LT(seconds_to_take(40'000), 4 * seconds_to_take(100));
}

/// The bytes of the example's frame as they are sent first.
std::vector<std::byte> bytes_sent(const link::Keys& keys, int count) {
  const auto ends = pair_of_sockets();
  link::Link sender(FileDescriptor{ends[0]}, keys);
  for (int i = 0; i < count; ++i) sender.send(example());
  sender.close();
  std::vector<std::byte> bytes;
  std::array<std::byte, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[1], buffer.data(), buffer.size())) > 0;)
    bytes.insert(bytes.end(), buffer.data(), buffer.data() + got);
  ::close(ends[1]);
  return bytes;
}

/// Whether a link takes @p bytes as its first frame; the reason when not.
std::string verdict_on(const link::Keys& keys, const std::vector<std::byte>& bytes) {
  const auto ends = pair_of_sockets();
  link::Link receiver(FileDescriptor{ends[1]}, mirrored(keys));
  EXPECT_EQ(::write(ends[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[0]);
  return receiver.receive_until(soon()) ? "taken" : receiver.complaint();
}

TEST(Link, EveryChangedBitIsNoticed) {
  const link::Keys keys = some_keys();
  const std::vector<std::byte> bytes = bytes_sent(keys, 1);
  EXPECT_EQ(verdict_on(keys, bytes), "taken");
  // All of the header but its lengths, then a byte of the value, and the digest's ends.
  const std::vector<std::size_t> places{
      0, 1, 4, 8, 12, 24, 100, bytes.size() - 32, bytes.size() - 1};
  for (const std::size_t place : places) {
    std::vector<std::byte> changed = bytes;
    changed[place] ^= std::byte{1};
    EXPECT_NE(verdict_on(keys, changed).find("meddles"), std::string::npos) << place;
  }
  std::vector<std::byte> huge = bytes;
  std::memset(huge.data() + 16, 0xff, 8);
  EXPECT_NE(verdict_on(keys, huge).find("it sent a frame of"), std::string::npos);
}

TEST(Link, AFrameLeftOutOrRepeatedIsNoticed) {
  const link::Keys keys = some_keys();
  const std::vector<std::byte> two = bytes_sent(keys, 2);
  const auto half = static_cast<std::ptrdiff_t>(two.size() / 2);
  const std::vector<std::byte> second(two.begin() + half, two.end());
  EXPECT_NE(verdict_on(keys, second).find("meddles"), std::string::npos);
  std::vector<std::byte> first(two.begin(), two.begin() + half);
  EXPECT_EQ(verdict_on(keys, first), "taken");
  first.insert(first.end(), two.begin(), two.begin() + half);
  const auto ends = pair_of_sockets();
  link::Link receiver(FileDescriptor{ends[1]}, mirrored(keys));
  EXPECT_EQ(::write(ends[0], first.data(), first.size()), static_cast<ssize_t>(first.size()));
  EXPECT_TRUE(receiver.receive_until(soon()).has_value());
  EXPECT_FALSE(receiver.receive_until(soon()).has_value());
  EXPECT_NE(receiver.complaint().find("meddles"), std::string::npos);
  ::close(ends[0]);
}

// --- handshake -----------------------------------------------------------------------------------

handshake::Caller some_caller() {
  handshake::Caller caller{};
  caller.role = handshake::Role::rank;
  caller.rank = 3;
  caller.size = 4;
  caller.host_key = handshake::fixed_text<64>("key");
  caller.host_name = handshake::fixed_text<64>("name");
  return caller;
}

template <class Plain>
void write_all(int fd, const Plain& object) {
  EXPECT_EQ(::write(fd, &object, sizeof object), static_cast<ssize_t>(sizeof object));
}
template <class Plain>
void read_all(int fd, Plain& object) {
  EXPECT_EQ(::recv(fd, &object, sizeof object, MSG_WAITALL), static_cast<ssize_t>(sizeof object));
}

/// A hub with @p hub_secret that answers @p answer to who has proved itself.
std::string greet(const std::string& hub_secret, handshake::Answer answer,
                  Greeting::Outcome& judged) {
  const auto ends = pair_of_sockets();
  std::thread hub([&] {
    Greeting greeting(hub_secret);
    write_all(ends[0], greeting.hello());
    handshake::CallerHello hello{};
    read_all(ends[0], hello);
    judged = greeting.judge(hello);
    const bool proved = judged == Greeting::Outcome::proved;
    write_all(ends[0],
              greeting.verdict(proved ? answer : handshake::Answer::wrong_secret, "not today"));
    if (!proved || answer != handshake::Answer::welcome) return;
    link::Link link(FileDescriptor{ends[0]}, greeting.keys());
    link.send(example());
    static_cast<void>(link.receive_until(soon()));
  });
  std::string result;
  try {
    link::Link link =
        handshake::greet_hub(FileDescriptor{ends[1]}, some_caller(), kSecret, "there", soon());
    const auto frame = link.receive_until(soon());
    result = frame && frame->value == example().value ? "welcome" : "no frame";
    link.send(example());
  } catch (const Error& problem) {
    result = problem.what();
  }
  hub.join();
  return result;
}

TEST(Handshake, WhoKnowsTheSecretIsWelcome) {
  Greeting::Outcome judged{};
  EXPECT_EQ(greet(kSecret, handshake::Answer::welcome, judged), "welcome");
  EXPECT_EQ(judged, Greeting::Outcome::proved);
}

TEST(Handshake, RefusalsCarryTheirSentence) {
  Greeting::Outcome judged{};
  EXPECT_NE(greet(kSecret, handshake::Answer::refused, judged).find("not today"),
            std::string::npos);
}

TEST(Handshake, AnotherSecretIsNoticedByBoth) {
  Greeting::Outcome judged{};
  const std::string result = greet("quite another secret", handshake::Answer::welcome, judged);
  EXPECT_EQ(judged, Greeting::Outcome::wrong_secret);
  EXPECT_NE(result.find("knows another secret"), std::string::npos) << result;
}

TEST(Handshake, AHubThatOnlyPretendsIsNoticed) {
  const auto ends = pair_of_sockets();
  std::thread hub([&] {
    Greeting greeting("what it does not know");
    write_all(ends[0], greeting.hello());
    handshake::CallerHello hello{};
    read_all(ends[0], hello);
    static_cast<void>(greeting.judge(hello));
    write_all(ends[0], greeting.verdict(handshake::Answer::welcome, ""));
  });
  try {
    static_cast<void>(
        handshake::greet_hub(FileDescriptor{ends[1]}, some_caller(), kSecret, "there", soon()));
    ADD_FAILURE() << "it was taken for the hub";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("does not know the job's secret"),
              std::string::npos);
  }
  hub.join();
  ::close(ends[0]);
}

struct NobodysHub : LinkServer::Owner {
  std::string admit(const handshake::Caller&) override { return {}; }
  void joined(LinkServer::Id, const handshake::Caller&) override {}
  void received(LinkServer::Id, Frame&&) override {}
  void ended(LinkServer::Id, const std::string&) override {}
  void wrong_secret() override {}
};

/// So that no descriptor is free for as long as it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(FileDescriptor(::dup(STDOUT_FILENO)).get());
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(LinkServer, ACallerWaitsUntilADescriptorIsFreeAndKeepsNobodyBusy) {
  NobodysHub owner;
  FileDescriptor listener = listen_anywhere(false);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_of(listener.get()));
  LinkServer server(std::move(listener), kSecret, owner, 1);
  const FileDescriptor caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  const auto take_turns_until = [&](link::Clock::time_point end) {
    int turns = 0;
    for (; link::Clock::now() < end && server.unauthenticated() == 0; ++turns) {
      pollfd work{server.fd(), POLLIN, 0};
      ::poll(&work, 1, 1000);
      server.turn();
    }
    return turns;
  };
  {
    const NoDescriptors none;
    EXPECT_LT(take_turns_until(link::Clock::now() + std::chrono::milliseconds(300)), 100);
  }
  take_turns_until(soon());
  EXPECT_EQ(server.unauthenticated(), 1U);
}

TEST(Handshake, WhoTheCallerIsCannotBeChanged) {
  Greeting greeting(kSecret);
  handshake::CallerHello hello{};
  hello.mark = handshake::kMark;
  hello.byte_order = handshake::kByteOrder;
  hello.caller = some_caller();
  hello.proof = authenticate(bytes_of(kSecret), {bytes_of("caller"), greeting.hello().nonce,
                                                 hello.nonce, bytes_of_object(hello.caller)});
  EXPECT_EQ(greeting.judge(hello), Greeting::Outcome::proved);
  hello.caller.rank = 0;
  EXPECT_EQ(greeting.judge(hello), Greeting::Outcome::wrong_secret);
  hello.mark[0] = 'x';
  EXPECT_EQ(greeting.judge(hello), Greeting::Outcome::no_viaduct);
}

}  // namespace
