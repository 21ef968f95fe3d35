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
    case ErrorCode::kUnboundedData:
      return "unbounded_data";
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
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

}  // namespace gauze
