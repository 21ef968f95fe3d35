#pragma once

#include "gauze/audit/audit.h"

namespace gauze::audit {

/// Fills in the report from the probabilities that the subject knows.
void audit_exactly(const Subject& subject, Report& report);

}  // namespace gauze::audit
