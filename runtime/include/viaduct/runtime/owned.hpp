#pragma once
/// @file
/// Sole owners, for headers that programs include. In C++20 the library's <memory> brings streams
/// and locales along, and takes longer to compile than all of Active Messages.

#include <cstddef>
#include <type_traits>

namespace viaduct {

namespace detail {

template <class From>
concept IsOwner = requires(From& from) {
  typename From::deleter_type;
  from.release();
};
template <class From>
concept IsIndexed = requires(From& from) {
  from[0];
};

/// Whether an Owned<T> can take over the object of a std::unique_ptr of type From: an array from an
/// array, one object from one object of the same type or of a derived one.
template <IsOwner From, class T>
consteval bool gives_to() noexcept {
  using Pointer = std::remove_extent_t<T>*;
  constexpr bool kSameForm = IsIndexed<From> == std::is_array_v<T>;
  return kSameForm && std::is_empty_v<typename From::deleter_type> &&
         std::is_convertible_v<typename From::pointer, Pointer>;
}

}  // namespace detail

/// Owns an object of type T, or an array of them (T[]), and deletes it: std::unique_ptr, as far as
/// it is used here, with the same meaning. T may be incomplete except where it is deleted.
template <class T>
class Owned {
 public:
  using Element = std::remove_extent_t<T>;

  constexpr Owned() noexcept = default;
  /// Owns nothing.  Never blocks.
  constexpr Owned(std::nullptr_t) noexcept {}
  /// Takes over what @p other owns; @p other owns nothing afterwards.  Cost: no allocation.
  Owned(Owned&& other) noexcept : at_(other.release()) {}
  /// Takes over what a std::unique_ptr with the library's own deleter owns.
  template <detail::IsOwner From, class = std::enable_if_t<detail::gives_to<From, T>()>>
  Owned(From&& from) noexcept : at_(from.release()) {}
  /// Takes over what @p other owns and deletes what this one owned.  Order: the owner is changed
  /// before the old object's destructor runs.
  Owned& operator=(Owned&& other) noexcept {
    replace(other.release());
    return *this;
  }
  ~Owned() { replace(nullptr); }

  /// @return the object, or null.  The owner keeps it.
  [[nodiscard]] Element* get() const noexcept { return at_; }
  /// @return whether an object is owned.
  [[nodiscard]] explicit operator bool() const noexcept { return at_ != nullptr; }
  /// @return whether no object is owned.
  [[nodiscard]] bool operator==(std::nullptr_t) const noexcept { return at_ == nullptr; }
  /// @return the object.  Precondition: one is owned.
  Element* operator->() const noexcept { return at_; }
  /// @return the object.  Precondition: one is owned.
  Element& operator*() const noexcept { return *at_; }
  /// @return element @p i of the array.  Precondition: the array has that element.
  [[gnu::always_inline]] Element& operator[](std::size_t i) const noexcept {
    static_assert(std::is_array_v<T>, "only an array has elements");
    return at_[i];
  }

  /// Deletes the object now, if there is one.  Order: the owner is empty before the object's
  /// destructor runs.
  void reset() noexcept { replace(nullptr); }
  /// Hands the object to the caller, to be deleted there.  @return the object, or null.
  [[nodiscard]] Element* release() noexcept {
    Element* const given = at_;
    at_ = nullptr;
    return given;
  }

 private:
  /// The owner is changed first: the deleted object's destructor sees the new state.
  void replace(Element* next) noexcept {
    static_assert(sizeof(Element) > 0, "the type must be complete where it is deleted");
    Element* const before = at_;
    at_ = next;
    if constexpr (std::is_array_v<T>)
      delete[] before;
    else
      delete before;
  }

  Element* at_ = nullptr;
};

}  // namespace viaduct
