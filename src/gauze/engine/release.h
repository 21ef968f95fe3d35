#pragma once

#include <concepts>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "gauze/accounting/event.h"
#include "gauze/accounting/meter.h"
#include "gauze/accounting/release.h"
#include "gauze/base/error.h"
#include "gauze/ledger/ledger.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Anything with a price that is known before the data, and a run that spends it. `Input` may be a
/// source that the run reads from, and so is not constant.
template <class Algorithm, class Input>
concept Releasable = requires(const Algorithm& algorithm, Input& input, Context& context) {
  { algorithm.event() } -> std::convertible_to<Event>;
  algorithm.run(input, context).value;
  { algorithm.run(input, context).spent } -> std::convertible_to<Event>;
};

/// The one door: every answer passes through here. The price is taken from public options, a meter
/// is filled with exactly that much, and the run spends it before it draws a bit; a run that asks
/// for more throws `kBudgetExceeded` and releases nothing. For use without a ledger.
template <class Input, Releasable<std::remove_reference_t<Input>> Algorithm>
auto release(const Algorithm& algorithm, Input&& input, BitSource& bits) {
  Meter meter(algorithm.event());
  Context context{meter, bits};
  return algorithm.run(input, context);
}

namespace door {

/// How a message ends when a run failed after the reservation; none depends on a row.
inline constexpr const char* kPaysAgain =
    "; its price stays reserved in the ledger, and the same question in the same words and at the "
    "same epsilon is answered without paying again";
inline constexpr const char* kStaysSpent =
    "; its price stays charged in the ledger, for noise may have been drawn";
inline constexpr const char* kStaysReserved =
    "; no noise was drawn, but the ledger could not be told, so that its price stays charged there";
inline constexpr const char* kBug = "a bug in Gauze, please report it: ";
inline constexpr const char* kNoMemory = "this needs more memory than the machine has";

/// Thrown by whoever watches a run, to end it: no answer, and no error worth a code.
struct Stop {
  int signal = 0;
  std::string what_it_costs = {};  ///< how a message about it ends; "" where nothing was reserved
};

/// Does it, unless the ledger is out of reach: whether it was done.
template <class Action>
bool attempt(Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    const ErrorCode code = error.code();
    if (code != ErrorCode::kBusy && code != ErrorCode::kIo && code != ErrorCode::kUnavailable) {
      throw;
    }
    return false;
  }
}

/// Does it; what it throws ends with what `cost` says, which is asked only then.
template <class Action, class Cost>
decltype(auto) telling(Action action, Cost cost) {
  const auto failed = [&](ErrorCode code, const std::string& why) {
    return Error(code, why + cost());
  };
  try {
    return action();
  } catch (const Error& error) {
    throw failed(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    throw failed(ErrorCode::kInvalidInput, kNoMemory);
  } catch (Stop& stop) {
    stop.what_it_costs = cost();
    throw;
  } catch (const std::exception& error) {
    throw failed(ErrorCode::kInternal, kBug + std::string(error.what()));
  }
}

/// What a run is given: the input itself, or what it returns when it is called.
template <class Input>
decltype(auto) opened(Input& input) {
  if constexpr (std::invocable<Input&>) {
    return input();
  } else {
    return (input);
  }
}

}  // namespace door

/// The same with a ledger: price, reserve, read and run, settle. Nothing is read before the price has
/// been paid durably: `input` is a source that reads when it is asked, or a function that reads and
/// returns the rows.
///
/// A run that throws before it charged its meter drew no noise: its reservation is marked
/// interrupted, and the same question can be asked again at no further cost. After that everything
/// stays spent, whatever happens. Throws what `Ledger::reserve` and the run throw; the message of what
/// fails after the reservation says which of the two it is. Too little memory is `kInvalidInput`, what is
/// no `Error` `kInternal`.
///
/// Argument: src/gauze/ledger/ledger.md
template <class Input, class Algorithm>
requires Releasable<Algorithm,
                    std::remove_reference_t<decltype(door::opened(std::declval<Input&>()))>>
auto release(const Request& request, const Algorithm& algorithm, Input&& input, Ledger& ledger,
             BitSource& bits) {
  Grant grant = ledger.reserve(request, algorithm.event());
  Meter meter(grant.reserved());
  Context context{meter, bits};
  const auto cost = [&] {
    if (!meter.charged().empty()) return door::kStaysSpent;
    try {
      ledger.interrupt(std::move(grant));
      return door::kPaysAgain;
    } catch (const std::exception&) {
      return door::kStaysReserved;  // the caller is told why the run failed
    }
  };
  auto answer = door::telling(
      [&] {
        auto&& rows = door::opened(input);
        return algorithm.run(rows, context);
      },
      cost);
  // Paid for and drawn: keeping the answer back would not undo that. Where the ledger is out of reach, the
  // record says `reserved`, which counts as seen.
  const auto settle = [&] { ledger.settle(std::move(grant)); };
  door::telling([&] { return door::attempt(settle); }, [] { return door::kStaysSpent; });
  return answer;
}

}  // namespace gauze
