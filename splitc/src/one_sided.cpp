/// Reads and writes of other hosts' memory without its owner's part (docs/splitc.md, One-sided
/// between hosts).

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "splitc/src/chunks.hpp"
#include "splitc/src/wait.hpp"
#include "viaduct/splitc/choice.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::splitc::detail {

using wire_format::Op;

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
/// The most unanswered questions to one process, and the most chunks that are known of it: beyond
/// them data go by messages.
constexpr std::size_t kMostAsked = 8;
constexpr std::size_t kMostKnown = 65536;
/// The most chunks of one process that are asked for on account of short blocks: the memory that a
/// process may register is for long ones first.
constexpr std::uint32_t kMostForShort = 8;

}  // namespace

void Machine::Impl::set_one_sided() noexcept {
  const bool possible =
      nic->transport() != nullptr && path != Path::message && path != Path::direct;
  one_sided_from = possible ? rdma_from(machine.settings(), path) : RdmaFrom{kNever, kNever};
}

/// Whether a block of @p bytes goes by RDMA, of those for which both ways are tried. Each power of
/// two has a trial of its own, and so has each direction. Only calls that wait take part, since the
/// time of the others is not known: these take the way that was found so far. What earlier messages
/// to the owner do comes before the block: while they are under way the block is a message, too.
bool Machine::Impl::is_rdma_faster(Channel& c, std::size_t bytes, Transfer what) noexcept {
  auto& trials = is_out(what) ? put_trials : get_trials;
  const auto length = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 4;  // 9 to 16: 0
  CostTrial& trial = trials[std::min(length, trials.size() - 1)];
  if (!is_handled(c, c.sent())) return false;
  if (!is_waited_for(what)) return trial.prefers_second();
  timed = {&trial, ticks_now()};
  return trial.takes_second();
}

PeerChunks& Machine::Impl::chunks_of(std::uint32_t process) {
  auto& chunks = owners[process].chunks;
  if (chunks == nullptr) chunks = std::make_unique<PeerChunks>();
  return *chunks;
}

/// Asks the owner for the chunk of @p address, unless that question is under way already or is not
/// worth it. @p tried: a block for which RDMA is tried, and not yet chosen. Answers whether an
/// answer is under way.
bool Machine::Impl::ask_chunk(PeerChunks& chunks, Channel& c, const char* operation,
                              std::uint64_t address, bool tried) {
  const std::uint64_t about = address / Memory::kChunkBytes;
  for (const auto& question : chunks.asked)
    if (question->address / Memory::kChunkBytes == about) return true;
  const std::uint32_t uses = chunks.used.count(address);
  const bool wanted = path == Path::rdma ||
                      (tried ? uses >= UseOfChunks::kOften && chunks.asked_for_short < kMostForShort
                             : uses >= UseOfChunks::kAgain);
  if (!wanted || chunks.asked.size() >= kMostAsked || chunks.known.size() >= kMostKnown)
    return false;
  chunks.asked.push_back(std::make_unique<PeerChunks::Question>());
  PeerChunks::Question& question = *chunks.asked.back();
  question.address = address;
  const std::uint64_t words[] = {address, reinterpret_cast<std::uint64_t>(&question.answer)};
  // A handler that a wait for a credit runs may ask, too.
  const std::uint64_t ticket = request(c, operation, wire_format::make(Op::chunk), words, 16);
  question.answered = note_answered(c, ticket);
  if (tried) ++chunks.asked_for_short;
  return true;
}

/// Whether RDMA reaches all of [address, + bytes) of @p c's process.
bool Machine::Impl::knows_chunks(Channel& c, const char* operation, std::uint64_t address,
                                 std::size_t bytes) {
  PeerChunks& chunks = chunks_of(c.process);
  const bool tried = bytes < one_sided_from.always;
  const auto take_answers = [&] {
    std::erase_if(chunks.asked, [&](const auto& question) {
      const bool is_here = question->answered.ticket != 0 && is_complete(question->answered);
      if (is_here && question->answer.bytes != 0) chunks.known.add(question->answer);
      return is_here;
    });
  };
  if (!chunks.asked.empty()) take_answers();
  for (std::uint64_t at = address; at < address + bytes;) {
    const Chunk* chunk = chunks.known.find(at);
    if (chunk == nullptr) {
      if (!ask_chunk(chunks, c, operation, at, tried) || path != Path::rdma) return false;
      std::vector<Handle> answers;  // a handler may take some of them meanwhile
      for (const auto& question : chunks.asked) answers.push_back(question->answered);
      for (const Handle answer : answers) finish(operation, answer);
      take_answers();
      chunk = chunks.known.find(at);
    }
    if (chunk == nullptr || chunk->registered == 0) return false;
    at = chunk->begin + chunk->bytes;
  }
  return true;
}

/// Registers own memory that is used repeatedly, so that the device takes the bytes from their
/// place. Answers how many of the @p bytes bytes may go in one transfer.
std::size_t Machine::Impl::register_own(const std::byte* local, std::size_t bytes) {
  const std::uint64_t address = machine.memory().globalize(local);
  const Chunk* chunk = own_chunks.find(address);
  if (chunk == nullptr) {
    if (machine.memory().chunk_at(address).bytes == 0) return bytes;
    if (path != Path::rdma && own_used.count(address) < UseOfChunks::kAgain) return bytes;
    (void)own_chunk(address);
    chunk = own_chunks.find(address);
  }
  if (chunk->registered == 0) return bytes;
  return std::min<std::size_t>(bytes, chunk->begin + chunk->bytes - address);
}

/// The chunk that holds @p address, registered if that is possible.
Chunk Machine::Impl::own_chunk(std::uint64_t address) {
  if (const Chunk* const known = own_chunks.find(address); known != nullptr) return *known;
  constexpr std::size_t kPage = 4096;
  Memory& memory = machine.memory();
  const SharedRange range = memory.chunk_at(address);
  if (range.bytes == 0) return {address / kPage * kPage, 0, kPage, 0, 0};  // messages alone
  Chunk chunk{memory.globalize(range.begin), reinterpret_cast<std::uint64_t>(range.begin),
              static_cast<std::uint32_t>(range.bytes), 0, 0};
  if (memory.keep_chunk(range)) {
    const auto key = nic->transport()->register_chunk(range.begin, range.bytes);
    chunk.key = key.value_or(0);
    chunk.registered = key ? 1 : 0;
  }
  count(kChunks, chunk.registered);
  own_chunks.add(chunk);
  return chunk;
}

void Machine::Impl::serve_chunk(Channel& c, const std::uint64_t* words) {
  static_assert(sizeof(Chunk) <= kInlineData);
  std::uint64_t answer[via::kWordsPerSlot] = {words[1]};
  Chunk chunk;
  if (nic->transport() != nullptr) chunk = own_chunk(words[0]);
  std::memcpy(answer + 1, &chunk, sizeof chunk);
  reply(c, Op::value, 0, c.served + 1, answer, 8 + sizeof chunk);
}

Handle Machine::Impl::one_sided(const char* operation, std::uint64_t word, std::byte* local,
                                std::size_t bytes, Transfer what) {
  const std::uint32_t process = process_of(word);
  if (bytes < one_sided_from.tried || bytes == 0 || !nic->is_remote(Rank{process})) return {};
  Channel& c = channel(process, bytes > kInlineData, operation);
  const std::uint64_t address = address_of(word);
  if (!knows_chunks(c, operation, address, bytes)) return {};
  if (bytes < one_sided_from.always && !is_rdma_faster(c, bytes, what)) return {};
  const bool waits = what == Transfer::write || bytes >= kCopiedPut;
  const bool by_device =
      bytes > kInlineData && bytes >= one_sided_from.always && (!is_out(what) || waits);
  const auto source = waits ? via::Link::Source::stays : via::Link::Source::changes;
  std::uint64_t transfer = 0;
  for (std::size_t at = 0; at != bytes;) {
    // A copy: a handler that the wait runs may add to the table.
    const Chunk chunk = *chunks_of(process).known.find(address + at);
    const std::uint64_t into = address + at - chunk.begin;
    std::size_t piece =
        std::min<std::size_t>({bytes - at, chunk.bytes - into, via::Link::kMostTransferBytes});
    if (by_device) piece = register_own(local + at, piece);
    const auto begun = [&] {
      if (via::Link* const link = c.channel->link())
        transfer = is_out(what)
                       ? link->put(local + at, piece, chunk.there + into, chunk.key, source)
                       : link->get(local + at, piece, chunk.there + into, chunk.key);
      return c.ended || transfer != 0;
    };
    transfer = 0;
    if (!begun()) wait(operation, process, begun);
    if (c.ended) end_of(c, operation);
    at += piece;
  }
  count(kOneSided);
  note_open(c);
  c.last_transfer = transfer;
  const Handle handle{transfer, process, c.index, Handle::kTransferred};
  if (what == Transfer::put && waits)
    wait(operation, process, [&] {
      via::Link* const link = c.channel->link();
      return link == nullptr || link->is_sent(transfer);
    });
  return handle;
}

/// Whether transfer number @p transfer of @p c has taken effect.
bool Machine::Impl::is_transferred(const Channel& c, std::uint64_t transfer) noexcept {
  via::Link* const link = c.channel->link();
  return link != nullptr && link->is_done(transfer) && !link->failed();
}

}  // namespace viaduct::splitc::detail
