// The launcher's side of the bootstrap: the messages, the bookkeeping, and a server that is fed
// nonsense.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "runtime/src/bootstrap_server.hpp"
#include "runtime/src/exchange.hpp"
#include "runtime/src/job_bootstrap.hpp"
#include "runtime/src/wire_format.hpp"
#include "viaduct/runtime/error.hpp"

namespace {

using viaduct::BootstrapServer;
using viaduct::Exchange;
using viaduct::FenceKind;
using viaduct::Rank;
using viaduct::wire_format::Header;
using viaduct::wire_format::Kind;
using viaduct::wire_format::Message;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// --- messages ------------------------------------------------------------------------------------

TEST(WireFormat, MessagesSurvive) {
  const std::string value(60'000, 'v');
  const auto bytes = viaduct::wire_format::encode({Kind::put, 7, "key", bytes_of(value)});
  std::string problem;
  const auto message = viaduct::wire_format::decode(bytes, problem);
  ASSERT_TRUE(message) << problem;
  EXPECT_EQ(message->kind, Kind::put);
  EXPECT_EQ(message->rank, 7U);
  EXPECT_EQ(message->key, "key");
  EXPECT_EQ(message->value.size(), value.size());
}

TEST(WireFormat, EveryMalformedMessageIsDescribed) {
  const auto good = viaduct::wire_format::encode({Kind::put, 1, "key", bytes_of("value")});
  const auto complaint = [&](auto damage) {
    std::vector<std::byte> bytes = good;
    Header header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    damage(header, bytes);
    std::memcpy(bytes.data(), &header, std::min(sizeof header, bytes.size()));
    std::string problem;
    EXPECT_FALSE(viaduct::wire_format::decode(bytes, problem));
    return problem;
  };
  using Bytes = std::vector<std::byte>;
  EXPECT_EQ(complaint([](Header&, Bytes& b) { b.resize(3); }), "a message of only 3 bytes");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.magic = 0; }),
            "a message that starts with 0x00000000");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.kind = Kind{40}; }),
            "a message of unknown kind 40");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.kind = Kind{0}; }), "a message of unknown kind 0");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.key_bytes = 256; }), "a key of 256 bytes");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.value_bytes = 0xffffffff; }),
            "a value of 4294967295 bytes");
  EXPECT_EQ(complaint([](Header& h, Bytes&) { h.value_bytes = 6; }),
            "a message of 24 bytes that says it has 25");
  EXPECT_EQ(complaint([](Header&, Bytes& b) { b.pop_back(); }),
            "a message of 23 bytes that says it has 24");
}

TEST(WireFormat, RandomBytesAreRefusedOrWithinTheirBounds) {
  std::mt19937 random(3);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    if (bytes.size() >= sizeof(Header) && random() % 2 == 0) {  // past the first check
      std::memcpy(bytes.data(), &viaduct::wire_format::kMagic, sizeof viaduct::wire_format::kMagic);
      bytes[4] = static_cast<std::byte>(random() % 70);
      bytes[5] = std::byte{0};
      for (const int at : {7, 13, 14, 15}) bytes[static_cast<std::size_t>(at)] = std::byte{0};
    }
    std::string problem;
    const auto message = viaduct::wire_format::decode(bytes, problem);
    ASSERT_NE(message.has_value(), !problem.empty());
    if (message) {
      ASSERT_EQ(sizeof(Header) + message->key.size() + message->value.size(), bytes.size());
    }
  }
}

/// An end of a pipe that is open nowhere else reads as ended.
TEST(WireFormat, OnlyTheFirstDescriptorOfAMessageIsKept) {
  std::array<int, 2> sockets{};
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets.data()), 0);
  ASSERT_EQ(::pipe(first.data()), 0);
  ASSERT_EQ(::pipe(second.data()), 0);
  const std::array<int, 2> carried{first[1], second[1]};
  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof carried)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof carried);
  std::memcpy(CMSG_DATA(c), carried.data(), sizeof carried);
  ASSERT_EQ(::sendmsg(sockets[0], &message, 0), 1);
  for (const int end : carried) ::close(end);
  viaduct::wire_format::Datagram datagram;
  ASSERT_EQ(viaduct::wire_format::receive(sockets[1], datagram, MSG_DONTWAIT), 0);
  ASSERT_EQ(::write(datagram.fd.get(), &byte, 1), 1);
  EXPECT_EQ(::read(first[0], &byte, 1), 1);
  ASSERT_EQ(::fcntl(second[0], F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(::read(second[0], &byte, 1), 0);
  for (const int fd : {sockets[0], sockets[1], first[0], second[0]}) ::close(fd);
}

// --- bookkeeping ---------------------------------------------------------------------------------

std::vector<std::uint32_t> ranks_of(const std::vector<Exchange::Release>& released) {
  std::vector<std::uint32_t> ranks;
  for (const auto& each : released) ranks.push_back(index(each.rank));
  return ranks;
}

TEST(Exchange, WhatOneFenceHasPublishedStaysAfterTheNext) {
  Exchange exchange(1);
  exchange.put(Rank{0}, "key", bytes_of("value"));
  for (int fence = 0; fence < 2; ++fence) {
    EXPECT_TRUE(exchange.arrive(Rank{0}, FenceKind::everyone));
    EXPECT_EQ(exchange.take_released().size(), 1U);
    const auto* const value = exchange.get(Rank{0}, "key");
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->size(), 5U) << "after fence " << fence;
  }
}

TEST(Exchange, OfSeveralLostTheFirstIsNamed) {
  Exchange exchange(4);
  exchange.lose(Rank{2});
  exchange.lose(Rank{1});
  EXPECT_TRUE(exchange.arrive(Rank{0}, FenceKind::everyone));
  const auto released = exchange.take_released();
  ASSERT_EQ(released.size(), 1U);
  EXPECT_TRUE(released[0].failed);
  EXPECT_EQ(released[0].culprit, Rank{2});
}

TEST(Exchange, ValuesAreSeenAfterTheFence) {
  Exchange exchange(2);
  exchange.put(Rank{0}, "k", bytes_of("v"));
  EXPECT_EQ(exchange.get(Rank{0}, "k"), nullptr);
  EXPECT_TRUE(exchange.arrive(Rank{0}, FenceKind::everyone));
  EXPECT_TRUE(exchange.take_released().empty());
  EXPECT_FALSE(exchange.arrive(Rank{0}, FenceKind::everyone)) << "nobody waits twice";
  exchange.arrive(Rank{1}, FenceKind::everyone);
  EXPECT_EQ(ranks_of(exchange.take_released()), (std::vector<std::uint32_t>{0, 1}));
  ASSERT_NE(exchange.get(Rank{0}, "k"), nullptr);
  exchange.put(Rank{0}, "k", bytes_of("new"));
  EXPECT_EQ(exchange.get(Rank{0}, "k")->size(), 1U) << "the old one until the next fence";
  EXPECT_EQ(exchange.get(Rank{1}, "k"), nullptr);
}

TEST(Exchange, LostRankFailsTheFenceAndIsNamed) {
  Exchange exchange(3);
  exchange.arrive(Rank{0}, FenceKind::everyone);
  exchange.lose(Rank{2});
  const auto released = exchange.take_released();
  ASSERT_EQ(ranks_of(released), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(released[0].failed);
  EXPECT_EQ(released[0].culprit, Rank{2});
  exchange.arrive(Rank{1}, FenceKind::everyone);
  EXPECT_TRUE(exchange.take_released().at(0).failed) << "and every later one";
}

TEST(Exchange, SurvivorsDoNotWaitForTheLost) {
  Exchange exchange(3);
  exchange.arrive(Rank{0}, FenceKind::survivors);
  exchange.arrive(Rank{1}, FenceKind::survivors);
  EXPECT_TRUE(exchange.take_released().empty());
  exchange.lose(Rank{2});
  const auto released = exchange.take_released();
  EXPECT_EQ(ranks_of(released), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(released[0].failed);
}

TEST(Exchange, RankLostWhileItWaitsIsNotReleased) {
  Exchange exchange(2);
  exchange.arrive(Rank{0}, FenceKind::survivors);
  exchange.lose(Rank{0});
  exchange.arrive(Rank{1}, FenceKind::survivors);
  EXPECT_EQ(ranks_of(exchange.take_released()), std::vector<std::uint32_t>{1});
}

TEST(Exchange, RankThatEndsFailsTheFenceOfTheOthers) {
  Exchange exchange(3);
  exchange.arrive(Rank{1}, FenceKind::survivors);
  exchange.arrive(Rank{0}, FenceKind::everyone);
  exchange.arrive(Rank{2}, FenceKind::everyone);
  const auto released = exchange.take_released();
  EXPECT_EQ(ranks_of(released), (std::vector<std::uint32_t>{0, 2})) << "the end still waits";
  EXPECT_TRUE(released.at(0).failed);
  EXPECT_EQ(released.at(0).culprit, Rank{1});
  exchange.arrive(Rank{0}, FenceKind::survivors);
  EXPECT_TRUE(exchange.take_released().empty());
  exchange.arrive(Rank{2}, FenceKind::survivors);
  EXPECT_EQ(ranks_of(exchange.take_released()), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Exchange, FailedRankFailsNoFenceBeforeItIsLost) {
  Exchange exchange(2);
  exchange.arrive(Rank{1}, FenceKind::failed);
  exchange.arrive(Rank{0}, FenceKind::everyone);
  EXPECT_TRUE(exchange.take_released().empty());
  exchange.lose(Rank{1});
  const auto released = exchange.take_released();
  ASSERT_EQ(ranks_of(released), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(released[0].failed);
}

TEST(Exchange, FailedRankEndsWithTheOthersWhenTheyDo) {
  Exchange exchange(2);
  exchange.arrive(Rank{1}, FenceKind::failed);
  exchange.arrive(Rank{0}, FenceKind::survivors);
  EXPECT_EQ(ranks_of(exchange.take_released()), (std::vector<std::uint32_t>{0, 1}));
}

// --- the server ----------------------------------------------------------------------------------

class Server : public testing::Test {
 protected:
  explicit Server(std::uint32_t size = 3) : server_(size), clients_(size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::bad_alloc();
      server_.open(Rank{i}, viaduct::FileDescriptor(ends[0]));
      clients_[i] = ends[1];
    }
  }
  ~Server() override {
    for (const int client : clients_) ::close(client);
  }

  /// What the server makes of one message of rank @p rank.
  std::string say(std::uint32_t rank, const Message& message, int fd = -1) {
    EXPECT_EQ(viaduct::wire_format::send(clients_[rank], viaduct::wire_format::encode(message), fd,
                                         MSG_DONTWAIT),
              0);
    return server_.readable(Rank{rank});
  }

  /// The answer that has come for @p rank; kind 0 when there is none.
  Kind answer(std::uint32_t rank) {
    viaduct::wire_format::Datagram datagram;
    if (viaduct::wire_format::receive(clients_[rank], datagram, MSG_DONTWAIT) != 0) return Kind{0};
    std::string problem;
    const auto message = viaduct::wire_format::decode(datagram.bytes, problem);
    return message ? message->kind : Kind{0};
  }

  BootstrapServer server_;
  std::vector<int> clients_;
};

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

TEST_F(Server, PutFenceGet) {
  EXPECT_EQ(say(0, {Kind::put, 0, "k", bytes_of("v")}), "");
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(say(i, {Kind::fence}), "");
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(answer(i), Kind::released);
  EXPECT_EQ(say(2, {Kind::get, 0, "k"}), "");
  EXPECT_EQ(answer(2), Kind::value);
  EXPECT_EQ(say(2, {Kind::get, 1, "k"}), "");
  EXPECT_EQ(answer(2), Kind::nothing);
}

TEST_F(Server, DescriptorsArePassedOn) {
  const int memory = ::memfd_create("test", MFD_CLOEXEC);
  EXPECT_EQ(say(1, {Kind::share_fd, 1}, memory), "");
  ::close(memory);
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1}), "");
  EXPECT_EQ(answer(0), Kind::descriptor);
  EXPECT_EQ(say(0, {Kind::fetch_fd, 2}), "");
  EXPECT_EQ(answer(0), Kind::nothing);
  ::shutdown(clients_[1], SHUT_RDWR);
  EXPECT_EQ(server_.readable(Rank{1}), "");
  EXPECT_FALSE(server_.is_open(Rank{1}));
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1}), "");
  EXPECT_EQ(answer(0), Kind::descriptor) << "nobody has been told yet that its owner is lost";
  server_.lose(Rank{1});
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1}), "");
  EXPECT_EQ(answer(0), Kind::nothing) << "its owner is gone";
}

/// The inode of the file that the answer for @p rank carries; 0 when none comes.
ino_t fetched_file(int client) {
  viaduct::wire_format::Datagram datagram;
  struct stat status {};
  if (viaduct::wire_format::receive(client, datagram, MSG_DONTWAIT) != 0 || !datagram.fd.is_open())
    return 0;
  const int problem = ::fstat(datagram.fd.get(), &status);
  return problem == 0 ? status.st_ino : 0;
}

TEST_F(Server, FurtherDescriptorsHaveKeys) {
  std::array<ino_t, 3> inodes{};
  const std::array<const char*, 3> keys{"", "a", "b"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const int memory = ::memfd_create("test", MFD_CLOEXEC);
    struct stat status {};
    ASSERT_EQ(::fstat(memory, &status), 0);
    inodes[i] = status.st_ino;
    EXPECT_EQ(say(1, {Kind::share_fd, 1, keys[i]}, memory), "");
    ::close(memory);
  }
  for (const std::size_t i : {2U, 0U, 1U}) {
    EXPECT_EQ(say(0, {Kind::fetch_fd, 1, keys[i]}), "");
    EXPECT_EQ(fetched_file(clients_[0]), inodes[i]) << keys[i];
  }
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1, "c"}), "");
  EXPECT_EQ(answer(0), Kind::nothing);
  EXPECT_EQ(say(0, {Kind::fetch_fd, 2, "a"}), "");
  EXPECT_EQ(answer(0), Kind::nothing) << "another rank's";
  ::shutdown(clients_[1], SHUT_RDWR);
  EXPECT_EQ(server_.readable(Rank{1}), "");
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1, "a"}), "");
  EXPECT_EQ(fetched_file(clients_[0]), inodes[1]) << "nobody has been told yet that it is lost";
  const int before = open_descriptors();
  server_.lose(Rank{1});
  EXPECT_EQ(open_descriptors(), before - 3);
  EXPECT_EQ(say(0, {Kind::fetch_fd, 1, "a"}), "");
  EXPECT_EQ(answer(0), Kind::nothing) << "its owner is gone";
}

TEST_F(Server, DescriptorsPerRankAreLimited) {
  EXPECT_EQ(say(1, {Kind::share_fd, 1, "a"}, STDIN_FILENO), "");
  EXPECT_EQ(say(1, {Kind::share_fd, 1, "a"}, STDIN_FILENO),
            "a second shared descriptor under \"a\"");
  for (const char* key : {"b", "c", "d"}) {
    EXPECT_EQ(say(1, {Kind::share_fd, 1, key}, STDIN_FILENO), "");
  }
  EXPECT_EQ(say(1, {Kind::share_fd, 1, "e"}, STDIN_FILENO), "more than 4 shared descriptors");
}

TEST_F(Server, MisuseIsDescribed) {
  EXPECT_EQ(say(0, {Kind::get, 3, "k"}), "a message about rank 3");
  EXPECT_EQ(say(0, {Kind::released}), "a message of kind 64, which only the launcher sends");
  EXPECT_EQ(say(0, {Kind::share_fd}), "a message that should carry a descriptor and does not");
  EXPECT_EQ(say(0, {Kind::fence}), "");
  EXPECT_EQ(say(0, {Kind::fence}), "a second fence while it waits at the first");
  EXPECT_EQ(say(1, {Kind::share_fd, 1}, STDIN_FILENO), "");
  EXPECT_EQ(say(1, {Kind::share_fd, 1}, STDIN_FILENO), "a second shared descriptor");
}

TEST_F(Server, TooMuchDataIsRefused) {
  const std::string value(viaduct::wire_format::kMaxValueBytes, 'x');
  std::string complaint;
  std::size_t sent = 0;
  while (complaint.empty() && sent < 2 * BootstrapServer::kMaxBytesPerRank) {
    complaint = say(0, {Kind::put, 0, "k", bytes_of(value)});
    sent += value.size();
  }
  EXPECT_EQ(complaint, "more than 16777216 bytes of bootstrap data");
}

TEST_F(Server, OversizedMessageIsRefused) {
  const std::vector<std::byte> bytes(100'000);
  ASSERT_EQ(viaduct::wire_format::send(clients_[0], bytes, -1, MSG_DONTWAIT), 0);
  EXPECT_EQ(server_.readable(Rank{0}), "a message of more than 65807 bytes");
}

/// A rank that asks and asks and never listens is stopped, and holds up nobody.
TEST_F(Server, RankThatDoesNotListenIsStopped) {
  const std::string value(60'000, 'x');
  say(1, {Kind::put, 1, "big", bytes_of(value)});
  for (std::uint32_t i = 0; i < 3; ++i) say(i, {Kind::fence});
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(answer(i), Kind::released);
  std::string complaint;
  for (int i = 0; i < 200 && complaint.empty(); ++i) complaint = say(0, {Kind::get, 1, "big"});
  EXPECT_NE(complaint.find("questions without taking the answers"), std::string::npos) << complaint;
  EXPECT_EQ(say(2, {Kind::get, 1, "big"}), "");
  EXPECT_EQ(answer(2), Kind::value);
}

TEST_F(Server, WaitingAnswersGoOutWhenThereIsRoom) {
  const std::string value(60'000, 'x');
  say(1, {Kind::put, 1, "big", bytes_of(value)});
  for (std::uint32_t i = 0; i < 3; ++i) say(i, {Kind::fence});
  EXPECT_EQ(answer(0), Kind::released);
  int asked = 0;
  while (!server_.wants_to_write(Rank{0}) && asked < 100) {
    EXPECT_EQ(say(0, {Kind::get, 1, "big"}), "");
    ++asked;
  }
  ASSERT_TRUE(server_.wants_to_write(Rank{0}));
  EXPECT_EQ(server_.take_stalled().size(), 1U);
  int answered = 0;
  for (; answer(0) == Kind::value; ++answered) EXPECT_EQ(server_.writable(Rank{0}), "");
  EXPECT_EQ(answered, asked);
  EXPECT_FALSE(server_.wants_to_write(Rank{0}));
}

TEST_F(Server, EndOfStreamClosesTheConnection) {
  ::shutdown(clients_[0], SHUT_RDWR);
  EXPECT_EQ(server_.readable(Rank{0}), "");
  EXPECT_FALSE(server_.is_open(Rank{0}));
}

/// Random messages, well-formed and not, with and without descriptors: never a crash, never a
/// descriptor lost.
TEST(ServerFuzz, RandomMessages) {
  constexpr int kKinds = static_cast<int>(Kind::failing) + 1;  // and one that there is not
  const int before = open_descriptors();
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    BootstrapServer server(4);
    std::array<int, 4> clients{};
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::array<int, 2> ends{};
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
      server.open(Rank{i}, viaduct::FileDescriptor(ends[0]));
      clients[i] = ends[1];
    }
    for (int step = 0; step < 500; ++step) {
      const std::uint32_t rank = static_cast<std::uint32_t>(random() % 4);
      auto bytes = viaduct::wire_format::encode(
          {Kind{static_cast<std::uint16_t>(1 + random() % kKinds)},
           static_cast<std::uint32_t>(random() % 5), std::string(random() % 5, 'k'),
           bytes_of(std::string(random() % 5, 'v'))});
      if (random() % 4 == 0) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      const int fd = random() % 3 == 0 ? STDIN_FILENO : -1;
      static_cast<void>(viaduct::wire_format::send(clients[rank], bytes, fd, MSG_DONTWAIT));
      static_cast<void>(server.readable(Rank{rank}));
      if (random() % 50 == 0) server.lose(Rank{static_cast<std::uint32_t>(random() % 4)});
      viaduct::wire_format::Datagram drained;
      for (const int client : clients) {
        while (viaduct::wire_format::receive(client, drained, MSG_DONTWAIT) == 0 &&
               !drained.end_of_stream) {
        }
      }
    }
    for (const int client : clients) ::close(client);
  }
  EXPECT_EQ(open_descriptors(), before);
}

// --- a rank's side ------------------------------------------------------------------------------

TEST(Client, ASecondThreadIsToldAndTakesNoAnswer) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  const viaduct::ForkMark mark;
  const auto client =
      viaduct::make_socket_bootstrap(viaduct::FileDescriptor(ends[0]), mark, Rank{1}, 2);
  std::thread first([&] { client->fence(); });
  viaduct::wire_format::Datagram question;
  ASSERT_EQ(viaduct::wire_format::receive(ends[1], question, 0), 0);  // the first thread waits now
  try {
    static_cast<void>(client->fetch_fd(Rank{0}, {}));
    ADD_FAILURE() << "nobody told the second thread";
  } catch (const viaduct::Error& error) {
    EXPECT_NE(std::string(error.what()).find("two threads of rank 1"), std::string::npos);
  }
  ASSERT_EQ(
      viaduct::wire_format::send(ends[1], viaduct::wire_format::encode({Kind::released}), -1, 0),
      0);
  first.join();
  EXPECT_FALSE(viaduct::wire_format::readable_within(ends[1], std::chrono::milliseconds(0)));
  ::close(ends[1]);
}

}  // namespace
