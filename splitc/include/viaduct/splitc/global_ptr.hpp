#pragma once
/// @file
/// Global pointers: an object of any process, by process and address there. Source: Culler et al.,
/// Introduction to Split-C, 1995; Begel et al. 2001, section 4.2.

#include <array>  // random_access_iterator_tag, without the streams of <iterator>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "viaduct/splitc/detail/here.hpp"
#include "viaduct/splitc/detail/hot.hpp"

namespace viaduct::splitc {

/// The number of this process, 0 to PROCS - 1. As in the language the name is in capitals: the
/// macro MYPROC stands for it (splitc.hpp). Outside splitc_main: 0 before, as in it afterwards, in
/// forked children, and in threads that begin after splitc_main has. 0 in threads that are older,
/// and where ranks are threads, in threads that they make.  Cost: one load.
[[nodiscard]] inline int myproc() noexcept { return static_cast<int>(detail::hot.myproc); }
/// How many processes there are; the macro PROCS stands for it. Outside splitc_main as MYPROC, with
/// 1 in place of 0.  Cost: one load.
[[nodiscard]] inline int procs() noexcept { return static_cast<int>(detail::hot.procs); }

/// @p Mode: whether the source checks its accesses (detail/here.hpp).
template <class T, class Mode = detail::Here>
class global_ref;

namespace detail {
template <class From, class To>
concept PointerTo = std::convertible_to<From*, To*>;

/// Addresses in global pointers are those of the owner's own address space where all processes lay
/// out their memory alike; where layouts differ (ranks as threads, position-independent programs)
/// these two functions translate. A process that does not exist stops the program with a sentence.
[[nodiscard]] std::uint64_t word_of(std::uint32_t process, const void* local) noexcept;
[[nodiscard]] void* localize(std::uint64_t address) noexcept;
/// @return where the object of @p word lies in this process: in the region if the word is aligned.
[[nodiscard]] inline void* local_of(std::uint64_t word) noexcept {
  const std::uint64_t address = address_of(word);
  return (word & kAlignedBit) != 0 ? reinterpret_cast<void*>(address) : localize(address);
}

template <class T, bool = std::is_object_v<T>>
struct PointerTraits {};
template <class T>
struct PointerTraits<T, true> {
  using value_type = std::remove_cv_t<T>;
  using reference = global_ref<T>;
};
}  // namespace detail

/// Points to an object of one process. Arithmetic changes the address and never the process.
///
/// One 64-bit word, trivially copyable: it may be stored in global memory, sent, and passed where C
/// passes an integer. Null is the all-zero word; a pointer is null when its address is, for any
/// process.
template <class T>
class global_ptr : public detail::PointerTraits<T> {
 public:
  using element_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  using pointer = void;

  /// Null.  Never waits.
  constexpr global_ptr() noexcept = default;
  /// Null.  Never waits.
  constexpr global_ptr(std::nullptr_t) noexcept {}
  /// This process' object; a null pointer stays null.  Never waits.
  explicit global_ptr(T* local) noexcept : global_ptr(detail::hot.myproc, local) {}
  /// The object of @p process that has @p local's address there.  Never waits. Errors: stops the
  /// program with a sentence when there is no such process.
  global_ptr(std::uint32_t process, T* local) noexcept
      : word_(local == nullptr ? 0 : detail::word_of(process, local)) {}
  /// To a base or a more const type, as between local pointers.  Never waits.
  template <class U>
  requires detail::PointerTo<U, T>
  constexpr global_ptr(global_ptr<U> other) noexcept : word_(other.word()) {}
  /// As a cast between pointer types: the bits stay.  Never waits.
  template <class U>
  requires(!detail::PointerTo<U, T>) constexpr explicit global_ptr(global_ptr<U> other) noexcept
      : word_(other.word()) {}

  /// The pointer whose word() was @p word, here or in another process.  Never waits.
  [[nodiscard]] static constexpr global_ptr from_word(std::uint64_t word) noexcept {
    global_ptr p;
    p.word_ = word;
    return p;
  }
  /// @return the pointer as one word, which may be stored and sent.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
  /// @return the process that the pointer points into.
  [[nodiscard]] constexpr std::uint32_t process() const noexcept {
    return detail::process_of(word_);
  }
  /// @return whether the pointer is not null: its address, not its process, decides.
  constexpr explicit operator bool() const noexcept { return !detail::is_null(word_); }

  /// A reference that reads and writes the object. Never waits: reading and writing do
  /// (access.hpp).
  [[nodiscard, gnu::always_inline]] auto operator*() const noexcept requires std::is_object_v<T> {
    return global_ref<T>(*this);
  }
  /// As operator*, of the object i further in the same process. Never waits.
  [[nodiscard]] auto operator[](detail::Subscript i) const noexcept requires std::is_object_v<T> {
    return global_ref<T>(*this + detail::number_of(i), detail::place_of_subscript(i));
  }
  /// The pointer to a member of the object: p.field(&Node::next).  Never waits. Cost: one addition.
  template <class M, class C>
  requires std::derived_from<std::remove_cv_t<T>, C>
  [[nodiscard]] auto field(M C::*member) const noexcept {
    alignas(T) static constexpr char kNothing[sizeof(T)] = {};
    const auto* object = reinterpret_cast<const T*>(kNothing);
    const auto offset =
        static_cast<std::uint64_t>(reinterpret_cast<const char*>(&(object->*member)) - kNothing);
    using Member = std::conditional_t<std::is_const_v<T>, const M, M>;
    return global_ptr<Member>::from_word(word_ + offset);
  }

  /// Moves by @p n objects, within the process.  Never waits. Cost: one addition.
  constexpr global_ptr& operator+=(std::ptrdiff_t n) noexcept requires std::is_object_v<T> {
    word_ += static_cast<std::uint64_t>(n) * sizeof(T);  // no address comes near 2^48
    return *this;
  }
  /// Moves back by @p n objects, within the process.  Never waits. Cost: one subtraction.
  constexpr global_ptr& operator-=(std::ptrdiff_t n) noexcept requires std::is_object_v<T> {
    return *this += -n;
  }
  /// To the next object of the same process.  Never waits.
  constexpr global_ptr& operator++() noexcept { return *this += 1; }
  /// To the object before, in the same process.  Never waits.
  constexpr global_ptr& operator--() noexcept { return *this -= 1; }
  /// As ++p.  @return the pointer as it was.
  constexpr global_ptr operator++(int) noexcept {
    const global_ptr old = *this;
    ++*this;
    return old;
  }
  /// As --p.  @return the pointer as it was.
  constexpr global_ptr operator--(int) noexcept {
    const global_ptr old = *this;
    --*this;
    return old;
  }
  /// @return the pointer @p n objects further, in the same process.
  friend constexpr global_ptr operator+(global_ptr p, std::ptrdiff_t n) noexcept { return p += n; }
  /// @return the pointer @p n objects further, in the same process.
  friend constexpr global_ptr operator+(std::ptrdiff_t n, global_ptr p) noexcept { return p += n; }
  /// @return the pointer @p n objects before, in the same process.
  friend constexpr global_ptr operator-(global_ptr p, std::ptrdiff_t n) noexcept { return p -= n; }
  /// Precondition: both point into the same process.
  friend constexpr std::ptrdiff_t operator-(global_ptr a,
                                            global_ptr b) noexcept requires std::is_object_v<T> {
    return static_cast<std::ptrdiff_t>(a.word_ - b.word_) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  /// @return whether the words are equal, or both pointers null.
  friend constexpr bool operator==(global_ptr a, global_ptr b) noexcept {
    return a.word_ == b.word_ || (!a && !b);
  }
  /// @return a fixed order: by process, then by address within one array or object. Objects of
  ///         shared memory come behind all others of their process, whatever their addresses are.
  friend constexpr std::strong_ordering operator<=>(global_ptr a, global_ptr b) noexcept {
    return a == b ? std::strong_ordering::equal : a.word_ <=> b.word_;
  }

 private:
  std::uint64_t word_ = 0;
};

/// @return the process that @p p points into.
template <class T>
[[nodiscard]] constexpr int toproc(global_ptr<T> p) noexcept {
  return static_cast<int>(p.process());
}
/// The address alone: the object of *this* process that has it. Null stays null.  Never waits.
template <class T>
[[nodiscard]] T* tolocal(global_ptr<T> p) noexcept {
  return static_cast<T*>(const_cast<std::remove_cv_t<T>*>(
      static_cast<const std::remove_cv_t<T>*>(detail::local_of(p.word()))));
}
/// The object of @p process that has @p local's address there.  Never waits. Errors: stops the
/// program with a sentence when there is no such process.
template <class T>
[[nodiscard]] global_ptr<T> toglobal(int process, T* local) noexcept {
  return {static_cast<std::uint32_t>(process), local};
}
/// This process' object as others see it.  Never waits.
template <class T>
[[nodiscard]] global_ptr<T> toglobal(T* local) noexcept {
  return global_ptr<T>(local);
}

static_assert(sizeof(global_ptr<int>) == 8 && std::is_trivially_copyable_v<global_ptr<int>>);

}  // namespace viaduct::splitc
