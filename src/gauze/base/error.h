#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace gauze {

/// What went wrong, as a number that never changes: printed, logged, sent over the wire and matched
/// by tests. Retire a code, never reuse it. `docs/errors.md` explains each with its way out.
enum class ErrorCode : std::uint16_t {
  kInvalidOption = 101,     ///< a public parameter is outside its documented range
  kUnknownName = 102,       ///< no algorithm, event type or option has this name
  kInvalidInput = 103,      ///< the input cannot be read: not a number, not JSON, an empty vector
  kSyntax = 104,            ///< the SQL text cannot be parsed
  kUnsupported = 105,       ///< understood, but not something Gauze does
  kUnboundedData = 201,     ///< no contribution bound covers this privacy unit
  kMissingKnowledge = 202,  ///< the schema lacks a line that this question needs
  kNotPrivate = 203,        ///< the question would reveal rows; refused before any was read
  kBudgetExceeded = 301,    ///< the meter, the filter or the ledger refused; nothing was released
  kCannotCompose = 302,  ///< no theorem composes these events, or this accountant has none for them
  kUnreachable = 303,    ///< no noise reaches the requested guarantee
  kEntropy = 401,        ///< the operating system gave no randomness
  kIo = 402,             ///< a file could not be read or written
  kLedgerDamaged = 403,  ///< the ledger is no ledger, or its hash chain does not hold
  kBusy = 404,           ///< somebody else holds the ledger for longer than we wait
  kUnavailable = 405,    ///< a database went away or does not answer
  kInternal = 500,       ///< a bug in Gauze: please report it
};

/// The stable name of a code, as JSON and the documentation spell it: `invalid_option`,
/// `budget_exceeded`, ...
const char* name(ErrorCode code);

/// The one exception type. Its message may name options, columns and limits; it never contains a
/// value read from private rows.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Throws `kInvalidOption` unless `holds`. `message` names the option, its range and the way out.
inline void require(bool holds, const char* message) {
  if (!holds) throw Error(ErrorCode::kInvalidOption, message);
}

/// Throws `kUnsupported`.
[[noreturn]] inline void unsupported(const std::string& message) {
  throw Error(ErrorCode::kUnsupported, message);
}

}  // namespace gauze
