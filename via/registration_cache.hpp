#pragma once
/// @file
/// Registered memory that stays registered: repeated transfers from and to the same pages cost one
/// registration (docs/verbs.md).
///
/// A registration ends when its pages are unmapped, moved or discarded, when room is wanted for
/// others, or with the cache; never while a Pin holds it. The program may unmap memory and map it
/// again at the same address, by any means and in any thread, without telling the cache: a later
/// transfer uses the memory that is there then. The kernel reports such changes (userfaultfd); no
/// function of the program's is replaced.
///
/// Only private anonymous memory is cached (heap, stacks, .bss, anonymous mmap). Other memory can
/// lose its pages without notice, and so can all memory where userfaultfd is refused: get()
/// registers it for one Pin.
///
/// The program's part: memory is not discarded (MADV_DONTNEED) nor unmapped by one thread while
/// another asks for its registration. The kernel does not report MADV_GUARD_INSTALL (Linux 6.13):
/// memory that was a guard must not be used for transfers again.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "viaduct/via/nic.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

class MappingMonitor;

/// The interface by which a cache registers memory.
class Registrar {
 public:
  struct Region {
    std::uint64_t cookie = 0;  ///< the registrar's own
    std::uint32_t key = 0;
    bool writable = false;  ///< by the local device
  };
  Registrar() = default;
  virtual ~Registrar() = default;
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// @p writable: the local device is to write there, too; else it may not be allowed to.
  /// Throws Error; with not_enough_memory when another registration has to go first.
  [[nodiscard]] virtual Region enroll(std::byte* address, std::size_t bytes, Rights rights,
                                      bool writable) = 0;
  /// Deregisters a region of enroll().  Precondition: no transfer uses the region any more.
  virtual void release(const Region& region) noexcept = 0;
};

/// The cache is used by one thread at a time, as its NIC's set-up.
class RegistrationCache {
 public:
  struct Limits {
    /// At most so many bytes, in whole pages, are registered at once.
    std::size_t pinned_bytes = 0;
    std::size_t regions = 1024;
  };
  /// Since the start, apart from the last two.
  struct Counters {
    std::uint64_t hits = 0;
    std::uint64_t registrations = 0;
    std::uint64_t evictions = 0;          ///< for want of room
    std::uint64_t invalidations = 0;      ///< their pages have changed
    std::uint64_t not_cached = 0;         ///< of a kind that cannot be cached, or no memory can
    std::uint64_t refused = 0;            ///< by the limits or the registrar
    std::uint64_t pinned_bytes = 0;       ///< now
    std::uint64_t most_pinned_bytes = 0;  ///< at once
  };

 private:
  struct Entry {
    std::uintptr_t begin = 0, end = 0;
    std::uint64_t used = 0;
    std::uint32_t pins = 0;
    Rights rights = Rights::none;
    bool writable = false;
    bool retired = false;  // released with its last pin
    bool once = false;     // never cached
    Registrar::Region region;
    [[nodiscard]] bool suits(const Entry& want) const noexcept {
      return includes(rights, want.rights) && (writable || !want.writable);
    }
  };

 public:
  /// Keeps a region registered. Movable; ends before its cache. Empty if there is none.
  class Pin {
   public:
    Pin() = default;
    /// Takes over @p other's region; @p other is empty afterwards.  Never blocks.
    Pin(Pin&& other) noexcept { swap(other); }
    /// Exchanges the two: the region of this Pin is let go at the end of @p other.  Never blocks.
    Pin& operator=(Pin&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Pin() {
      if (entry_ != nullptr && --entry_->pins == 0 && entry_->retired) cache_->release(*entry_);
    }
    /// @return whether the Pin holds a region.
    explicit operator bool() const noexcept { return entry_ != nullptr; }
    /// @return the region's handle, for descriptors and for peers.  Precondition: not empty.
    [[nodiscard]] MemoryHandle handle() const noexcept {
      return static_cast<MemoryHandle>(entry_->region.key);
    }
    /// @return the same as a number.  Precondition: not empty.
    [[nodiscard]] std::uint32_t key() const noexcept { return entry_->region.key; }

   private:
    friend class RegistrationCache;
    Pin(RegistrationCache& cache, Entry& entry) noexcept : cache_(&cache), entry_(&entry) {
      ++entry.pins;
    }
    void swap(Pin& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(entry_, other.entry_);
    }
    RegistrationCache* cache_ = nullptr;
    Entry* entry_ = nullptr;
  };

  /// Registers with @p nic under @p tag, both of which outlive the cache.  Throws Error.
  RegistrationCache(Nic& nic, ProtectionTag tag, const Limits& limits);
  /// The same with any registrar. Both make the process' monitor of mappings, with its thread, if
  /// there is none yet.  Throws bad_alloc; where the kernel refuses the monitor, problem() says so.
  RegistrationCache(std::unique_ptr<Registrar> registrar, const Limits& limits);
  /// Releases everything. No Pin is left.
  ~RegistrationCache();
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  /// get: a region of @p bytes at @p address, for transfers that begin from now on until the Pin
  /// ends.  Of const memory the local device only reads: it may be read-only, and @p rights may be
  /// rdma_read at most. Whole pages are registered: a peer with the handle reaches all of them.
  ///
  /// Blocks      for a registration, unless it is cached; while memory is being unmapped, for its
  ///             end, which is soon.
  /// Cost        cached: a system call that does nothing, and a search among the regions.
  /// Errors      throws Error: the NIC's reason, or that the bytes in use and the wanted bytes
  ///             together exceed the limit of pinned bytes.
  [[nodiscard]] Pin get(std::byte* address, std::size_t bytes, Rights rights = Rights::none) {
    return exact(address, bytes, rights, true);
  }
  /// The same of const memory.  Blocks, costs and throws as the other get(), and throws for rights
  /// beyond rdma_read.
  [[nodiscard]] Pin get(const std::byte* address, std::size_t bytes, Rights rights = Rights::none) {
    return exact(const_cast<std::byte*>(address), bytes, rights, false);
  }

  /// get_early: get() without its system call, for transfers that a second one may follow. It sees
  /// changes of memory by calls that have returned. When another thread's munmap() is giving up
  /// pages and the kernel has given this thread new ones at their address, the region may still be
  /// of the old pages: confirm(), called while or after the transfer is under way, shows that. Then
  /// repeat all of a transfer out of the region; a transfer into it has changed only the old pages,
  /// which are no longer in use.
  ///
  /// Empty: the memory cannot be cached, or registered.
  /// Blocks      as get() does, when it is not cached or something has changed.
  /// Cost        cached: a load, and a search among the regions; no system call, lock or
  /// allocation.
  [[nodiscard]] Pin get_early(std::byte* address, std::size_t bytes,
                              Rights rights = Rights::none) noexcept {
    return early(address, bytes, rights, true);
  }
  /// The same of const memory.  Blocks and costs as the other get_early().
  /// @return empty: the memory cannot be cached, or registered.
  [[nodiscard]] Pin get_early(const std::byte* address, std::size_t bytes,
                              Rights rights = Rights::none) noexcept {
    return early(const_cast<std::byte*>(address), bytes, rights, false);
  }
  /// get_early() of cached regions alone: registers nothing.  @return empty where no cached
  /// region suits. Cost: as get_early() of a cached region.
  [[nodiscard]] Pin get_cached(const std::byte* address, std::size_t bytes, Rights rights,
                               bool writable) noexcept;
  /// Whether @p pin is of the pages that were there when it was asked for. May say no too often.
  /// Cost        some tens of system calls at most.
  [[nodiscard]] bool confirm(const Pin& pin) noexcept;

  /// Releases regions whose pages have changed, so that the memory is free for others.
  /// get() does so, too.
  /// Blocks      while memory is being unmapped, for its end, which is soon.
  /// Cost        a load, when nothing has changed.
  void sweep() noexcept {
    if (changes_->load(std::memory_order_acquire) != seen_) drain();
  }

  /// Lowers the limit of pinned bytes by @p bytes, which its owner registers elsewhere.
  ///
  /// Blocks      never.
  /// Cost        that of releasing the regions that were not used for longest, as many as needed.
  /// @return     false: transfers use too much of the limit, or it is less than that.
  [[nodiscard]] bool give_up(std::size_t bytes) noexcept;
  /// take_back: raises the limit again.  Never blocks.
  void take_back(std::size_t bytes) noexcept { limits_.pinned_bytes += bytes; }

  /// @return whether the cache keeps registrations: the kernel allows it, and the limit is not 0.
  [[nodiscard]] bool caches() const noexcept;
  /// @return why the kernel prevents caching, with the remedy; empty where the kernel allows it.
  [[nodiscard]] const std::string& problem() const noexcept;
  /// @return the limits that the cache was made with, less what has been given up.
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
  /// @return the counters, which the cache goes on changing.
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  /// The problem() of a cache that is made now, "" if the kernel allows one.  Cost: that of making
  /// one.
  [[nodiscard]] static std::string probe();

 private:
  [[nodiscard]] Pin exact(std::byte* address, std::size_t bytes, Rights rights, bool writable);
  [[nodiscard]] Pin early(std::byte* address, std::size_t bytes, Rights rights,
                          bool writable) noexcept;
  [[nodiscard]] Pin early_miss(const Entry& want) noexcept;
  [[nodiscard]] Entry wanted(const std::byte* address, std::size_t bytes, Rights rights,
                             bool writable) const noexcept;
  [[nodiscard]] Entry* find(std::uintptr_t begin, std::uintptr_t end) noexcept;
  [[nodiscard]] Pin hit(Entry& entry) noexcept {
    entry.used = ++clock_;
    ++counters_.hits;
    return Pin(*this, entry);
  }
  [[nodiscard]] Entry& add(const Entry& want);
  [[nodiscard]] Entry& insert(const Entry& want);
  [[nodiscard]] Entry& add_for_once(const Entry& want);
  [[nodiscard]] std::unique_ptr<Entry> enroll(const Entry& want);
  void make_room(std::size_t bytes);
  [[nodiscard]] bool evict();
  void retire(std::size_t at) noexcept;
  void release(Entry& entry) noexcept;
  void drain() noexcept;

  std::shared_ptr<MappingMonitor> monitor_;
  const std::atomic<std::uint64_t>* changes_;  // the monitor's state
  std::uint64_t seen_ = 0;                     // of it
  std::uintptr_t page_mask_;
  std::uint64_t clock_ = 0;
  // Regions of this size or more found no room at the registrar, and are not tried each time.
  std::size_t too_large_ = ~std::size_t{0};
  std::uint64_t not_tried_ = 0;
  // None lies within another: sorted by begin, and so by end.
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Entry>> retired_;
  std::unique_ptr<Registrar> registrar_;
  Limits limits_;
  Counters counters_;
};

}  // namespace viaduct::via
