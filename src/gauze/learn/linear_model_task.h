#pragma once

#include <memory>

#include "gauze/learn/loss.h"
#include "gauze/registry/algorithm.h"

namespace gauze {

/// How one says what to learn: a label and the columns to learn it from.
InputKind features_kind();

/// Options that all linear models have.
std::vector<OptionSpec> linear_model_options();

/// Training a linear model on a private table as a task. Its artifact is the model. Everything that the schema and
/// the options can refuse is refused here, before anything is paid.
Task linear_model_task(const std::string& algorithm, const Loss& loss, const OptionValues& values,
                       const Asked& asked);

}  // namespace gauze
