/// Blocking reads and writes of words: the classical tests.

#include <algorithm>

#include "tests/splitc/litmus.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::read;
using splitc::write;

constexpr int kLooks = 60;  // for what another process writes

/// Reads until it is not zero, or gives up: the run then shows nothing.
long await(splitc::global_ptr<long> p) {
  long value = 0;
  for (int i = 0; i < kLooks && value == 0; ++i) value = read(p);
  return value;
}

void message_passing(Instance& in) {
  if (in.role == 0) {
    write(in.x, 1);
    write(in.y, 1);
  } else {
    in.r[0] = random_below(2) == 0 ? read(in.y) : await(in.y);
    in.r[1] = read(in.x);
  }
}
bool seen_too_early(const Outcome& o) { return o.r[1][0] == 1 && o.r[1][1] == 0; }

void message_passing_plain(Instance& in) {
  if (in.role == 0) {
    store_here(in.x, 1);
    write(in.y, 1);
  } else {
    in.r[0] = await(in.y);
    if (in.r[0] == 1) in.r[1] = read(in.x);
  }
}

/// Reads the same word before and after it sees the flag: a value must not be kept in a register.
void message_passing_reread(Instance& in) {
  if (in.role == 0) {
    write(in.x, 1);
    write(in.y, 1);
  } else {
    for (int i = 0; i < kLooks; ++i) {
      const long before = read(in.x);
      in.r[0] = read(in.y);
      in.r[1] = read(in.x);
      if (in.r[1] < before) in.r = {1, 0};
      if (in.r[0] != 0) return;
    }
  }
}

std::byte byte_of(std::uint32_t round) { return static_cast<std::byte>(round % 251 + 1); }

void message_passing_bulk(Instance& in) {
  std::byte block[kBlock];
  if (in.role == 0) {
    std::fill_n(block, kBlock, byte_of(in.round));
    splitc::bulk_write(in.x_block, block, kBlock);
    write(in.y, 1);
  } else {
    in.r[0] = await(in.y);
    if (in.r[0] == 0) return;
    splitc::bulk_read(block, in.x_block, kBlock);
    in.r[1] =
        std::all_of(block, block + kBlock, [&](std::byte b) { return b == byte_of(in.round); });
  }
}

void store_buffering(Instance& in) {
  write(in.role == 0 ? in.x : in.y, 1);
  in.r[0] = read(in.role == 0 ? in.y : in.x);
}
void store_buffering_fenced(Instance& in) {
  splitc::write_fenced(in.role == 0 ? in.x : in.y, 1);
  in.r[0] = read(in.role == 0 ? in.y : in.x);
}
bool both_zero(const Outcome& o) { return o.r[0][0] == 0 && o.r[1][0] == 0; }

void load_buffering(Instance& in) {
  in.r[0] = read(in.role == 0 ? in.x : in.y);
  write(in.role == 0 ? in.y : in.x, 1);
}
bool both_one(const Outcome& o) { return o.r[0][0] == 1 && o.r[1][0] == 1; }

/// The readers are roles 0 and 1, which begin together.
void independent_reads(Instance& in) {
  switch (in.role) {
    case 0:
      in.r[0] = await(in.x);
      in.r[1] = read(in.y);
      return;
    case 1:
      in.r[0] = await(in.y);
      in.r[1] = read(in.x);
      return;
    case 2:
      return write(in.x, 1);
    default:
      return write(in.y, 1);
  }
}
bool readers_disagree(const Outcome& o) {
  return o.r[0][0] == 1 && o.r[0][1] == 0 && o.r[1][0] == 1 && o.r[1][1] == 0;
}

void write_to_read(Instance& in) {
  if (in.role == 0) return write(in.x, 1);
  if (in.role == 1) {
    in.r[0] = await(in.x);
    return write(in.y, 1);
  }
  in.r[0] = await(in.y);
  in.r[1] = read(in.x);
}
bool chain_is_broken(const Outcome& o) {
  return o.r[1][0] == 1 && o.r[2][0] == 1 && o.r[2][1] == 0;
}

void corr(Instance& in) {
  if (in.role == 0) {
    write(in.x, 1);
    write(in.x, 2);
  } else {
    in.r[0] = read(in.x);
    in.r[1] = read(in.x);
  }
}
bool goes_back(const Outcome& o) { return o.r[1][1] < o.r[1][0]; }

void coww(Instance& in) {
  write(in.x, 1);
  write(in.x, 2);
}
bool ends_with_first(const Outcome& o) { return o.x != 2; }

void corw(Instance& in) {
  if (in.role == 0) return write(in.x, 2);
  in.r[0] = read(in.x);
  write(in.x, 1);
}
bool read_of_the_future(const Outcome& o) { return o.r[1][0] == 1 || (o.r[1][0] == 2 && o.x == 2); }

void cowr(Instance& in) {
  if (in.role == 1) return write(in.x, 2);
  write(in.x, 1);
  in.r[0] = read(in.x);
}
bool read_of_the_past(const Outcome& o) { return o.r[0][0] == 0 || (o.r[0][0] == 2 && o.x == 1); }

void two_plus_two_writes(Instance& in) {
  write(in.role == 0 ? in.x : in.y, 1);
  write(in.role == 0 ? in.y : in.x, 2);
}
bool both_first(const Outcome& o) { return o.x == 1 && o.y == 1; }

/// Words of which all bytes are equal.
template <class T>
bool is_whole(T value) {
  T wanted;
  std::memset(&wanted, static_cast<unsigned char>(value), sizeof(T));
  return value == wanted;
}
template <class T>
void write_or_read_whole(Instance& in) {
  const auto p = splitc::global_ptr<T>(in.x);
  constexpr auto kOnes = static_cast<T>(~T{0});
  for (int i = 0; i < 8; ++i) {
    if (in.role == 0)
      write(p, i % 2 == 0 ? kOnes : T{0});
    else if (!is_whole(read(p)))
      in.r[0] = sizeof(T);
  }
}
void whole_words(Instance& in) {
  switch (in.round % 4) {
    case 0:
      return write_or_read_whole<std::uint8_t>(in);
    case 1:
      return write_or_read_whole<std::uint16_t>(in);
    case 2:
      return write_or_read_whole<std::uint32_t>(in);
    default:
      return write_or_read_whole<std::uint64_t>(in);
  }
}
bool is_torn(const Outcome& o) { return o.r[1][0] != 0; }

constexpr auto kAny = Owners::any;

constexpr Case kCases[] = {
    {"message_passing", 2, kAny, false, false, 128, kNever, message_passing, seen_too_early,
     nullptr},
    {"message_passing_plain", 2, Owners::x_at_0, false, false, 128, kNever, message_passing_plain,
     seen_too_early, nullptr},
    {"message_passing_reread", 2, kAny, false, false, 128, kNever, message_passing_reread,
     seen_too_early, nullptr},
    {"message_passing_bulk", 2, kAny, false, false, 128, kNever, message_passing_bulk,
     seen_too_early, nullptr},
    {"store_buffering", 2, kAny, false, false, 128, kMapped, store_buffering, both_zero, nullptr},
    {"store_buffering_fenced", 2, kAny, false, false, 128, kNever, store_buffering_fenced,
     both_zero, nullptr},
    {"load_buffering", 2, kAny, false, false, 128, kNever, load_buffering, both_one, nullptr},
    {"independent_reads", 4, kAny, false, false, 128, kNever, independent_reads, readers_disagree,
     nullptr},
    {"write_to_read", 3, kAny, false, false, 128, kNever, write_to_read, chain_is_broken, nullptr},
    {"corr", 2, kAny, false, false, 128, kNever, corr, goes_back, nullptr},
    {"coww", 1, kAny, false, true, 128, kNever, coww, ends_with_first, nullptr},
    {"corw", 2, kAny, false, true, 128, kNever, corw, read_of_the_future, nullptr},
    {"cowr", 2, kAny, false, true, 128, kNever, cowr, read_of_the_past, nullptr},
    {"two_plus_two_writes", 2, kAny, false, true, 128, kNever, two_plus_two_writes, both_first,
     nullptr},
    {"whole_words", 2, kAny, false, false, 128, kBetweenHosts, whole_words, is_torn, nullptr},
};

}  // namespace

std::span<const Case> word_cases() { return kCases; }

}  // namespace viaduct::splitc_test
