#include "gauze/base/error.h"

namespace gauze {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidOption:
      return "invalid_option";
    case ErrorCode::kUnknownName:
      return "unknown_name";
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kSyntax:
      return "syntax";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnboundedData:
      return "unbounded_data";
    case ErrorCode::kMissingKnowledge:
      return "missing_knowledge";
    case ErrorCode::kNotPrivate:
      return "not_private";
    case ErrorCode::kBudgetExceeded:
      return "budget_exceeded";
    case ErrorCode::kCannotCompose:
      return "cannot_compose";
    case ErrorCode::kUnreachable:
      return "unreachable";
    case ErrorCode::kEntropy:
      return "entropy";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kLedgerDamaged:
      return "ledger_damaged";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

}  // namespace gauze
