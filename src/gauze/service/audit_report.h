#pragma once

#include <string>

#include "gauze/audit/audit.h"
#include "gauze/service/values.h"

namespace gauze::service {

inline constexpr const char* kAuditCaution =
    "An audit can refute a claim, never prove it: other inputs and rarer events may still tell "
    "more. What proves privacy is an argument.";

/// What an audit has found, in words.
struct AuditWords {
  std::string verdict;                 ///< "No violation found: count, in 1,000,000 runs"
  std::string claimed, shown;          ///< "ε = 1", "ε is at least 0.93, with 99.9 % confidence"
  std::string inputs;                  ///< what the pair is
  std::string likely, unlikely;        ///< the inputs
  std::string on_likely, on_unlikely;  ///< how often the event happened there
};
AuditWords words_of(const audit::Report& report);

/// How often the likelier input is detected at this share of false alarms, as seen.
double seen_power(const audit::Report& report, double false_alarms);

Json audit_json(const audit::Report& report);
/// A page of HTML.
std::string audit_page(const audit::Report& report);

}  // namespace gauze::service
