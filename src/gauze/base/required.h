#pragma once

#include <type_traits>
#include <utility>

namespace gauze {

/// An option without a default: leaving it out does not compile. Ordinary options carry defaults;
/// privacy parameters, sensitivities and bounds never do.
template <class T>
class Required {
 public:
  template <class U>
  requires std::is_constructible_v<T, U&&> &&
      (!std::is_same_v<std::remove_cvref_t<U>, Required>)constexpr Required(U&& value)
      : value_(std::forward<U>(value)) {}                 // NOLINT(google-explicit-constructor)
  constexpr operator const T&() const { return value_; }  // NOLINT(google-explicit-constructor)
  constexpr const T& get() const { return value_; }
  constexpr const T* operator->() const { return &value_; }

 private:
  T value_;
};

}  // namespace gauze
