#pragma once

#include <type_traits>
#include <utility>

namespace gauze {

/// What an option of type T may be made from: anything that makes a T, except a floating-point number
/// for an exact type. 0.1 would silently be the binary number next to it; write parse_ratio("0.1") or
/// ratio_of_decimal(0.1).
template <class U, class T>
concept OptionFor = std::is_constructible_v<T, U&&> &&
    (std::is_floating_point_v<T> || !std::is_floating_point_v<std::remove_cvref_t<U>>);

/// An option without a default: leaving it out does not compile. Ordinary options carry defaults;
/// privacy parameters, sensitivities and bounds never do.
template <class T>
class Required {
 public:
  template <OptionFor<T> U>
  requires(!std::is_same_v<std::remove_cvref_t<U>, Required>) constexpr Required(
      U&& value)  // NOLINT(google-explicit-constructor)
      : value_(std::forward<U>(value)) {}
  constexpr operator const T&() const { return value_; }  // NOLINT(google-explicit-constructor)
  constexpr const T& get() const { return value_; }
  constexpr const T* operator->() const { return &value_; }

 private:
  T value_;
};

}  // namespace gauze
