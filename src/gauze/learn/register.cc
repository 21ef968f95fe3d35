#include "gauze/learn/register.h"

#include <utility>

#include "gauze/learn/linear_model_task.h"

namespace gauze {
namespace {

/// What all linear models say of themselves.
Algorithm linear_model(std::string name, std::string summary, std::string document) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .input = "a person with features and a class",
          .guarantee =
              "epsilon-DP, or (epsilon, delta)-DP if delta is given: one person more or "
              "less, whatever their rows.",
          .accuracy =
              "States the length of the noise on the coefficients; the mean loss rises by "
              "at most that.",
          .cost = "Training as without privacy: some dozens of passes over the rows in memory.",
          .source =
              "Chaudhuri, Monteleoni and Sarwate (2011); Wu, Li, Kumar, Chaudhuri, Jha and "
              "Naughton (2017); corrected as their pages say.",
          .document = std::move(document),
          .options = linear_model_options(),
          .kind = features_kind(),
          .artifact = "the model"};
}

Algorithm logistic_regression() {
  Algorithm about = linear_model(
      "logistic_regression",
      "Predicts one of two classes and how sure it is, from columns with ranges and categories",
      "src/gauze/learn/bolt_on.md");
  about.when = "when probabilities are wanted, and as a first model.";
  about.example =
      "gauze release logistic_regression --epsilon 1 --expected-units 20000 --label ill --data "
      "people.csv --artifact model.json";
  about.make = [options = about.options](const Asked& asked) {
    return linear_model_task("logistic_regression", Loss::logistic(),
                             OptionValues(options, asked.options), asked);
  };
  return about;
}

Algorithm linear_svm() {
  Algorithm about = linear_model(
      "linear_svm", "Predicts one of two classes by the widest margin, with a hinge made smooth",
      "src/gauze/learn/bolt_on.md");
  about.options.push_back({"huber", OptionSpec::Type::kNumber,
                           "half of the width over which the hinge's kink is rounded, up to 1",
                           "0.5"});
  about.when = "when only the class is wanted and classes are well apart.";
  about.example =
      "gauze release linear_svm --epsilon 1 --expected-units 20000 --label ill --data people.csv "
      "--artifact model.json";
  about.make = [options = about.options](const Asked& asked) {
    const OptionValues values(options, asked.options);
    return linear_model_task("linear_svm", Loss::huber(values.real("huber")), values, asked);
  };
  return about;
}

}  // namespace

std::vector<Family> learn_families() {
  return {{"Models that predict", {logistic_regression(), linear_svm()}}};
}

}  // namespace gauze
