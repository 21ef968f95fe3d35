#include <algorithm>
#include <cmath>
#include <optional>

#include "command.h"
#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/service/wording.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct AccountRequest {
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::string accountant = "best";
  std::string file;
  bool compare = false;
  bool json = false;
};

std::vector<Event> read_events(const std::string& file) {
  nlohmann::json json = nlohmann::json::parse(read_all(file), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    throw Error(ErrorCode::kInvalidInput,
                (file == "-" ? "standard input" : "the file '" + file + "'") +
                    " is not JSON; write it like {\"events\":[{\"type\":\"laplace\",\"scale\":2,"
                    "\"l1_sensitivity\":1}]}");
  }
  return events_from_json(json);
}

Guarantee price(const AccountRequest& request, const std::vector<Event>& events,
                Accountant accountant) {
  if (request.epsilon) {
    const double epsilon = number(*request.epsilon, "--epsilon");
    require(epsilon >= 0, "--epsilon: must be 0 or more");
    return delta_at(events, epsilon, accountant);
  }
  const double delta = request.delta ? number(*request.delta, "--delta") : 0;
  require(delta >= 0 && delta < 1, "--delta: must be at least 0 and below 1, like 1e-6");
  const Guarantee guarantee = epsilon_at(events, delta, accountant);
  const auto pure = [](const Event& event) { return pure_epsilon(event).has_value(); };
  if (!request.delta && !std::all_of(events.begin(), events.end(), pure)) {
    throw Error(ErrorCode::kInvalidOption,
                "--delta: is needed, for these events have no finite epsilon at delta = 0; give a "
                "value far below one over the number of people, like 1e-6");
  }
  return guarantee;
}

std::string at(const Guarantee& guarantee) {
  return glyph("ε = ", "epsilon = ") + upward(guarantee.epsilon, 6) +
         glyph(" at δ = ", " at delta = ") + upward(guarantee.delta, 6);
}

void print_comparison(const AccountRequest& request, const std::vector<Event>& events) {
  print_line();
  print_line(heading("By each accountant"));
  std::vector<std::vector<std::string>> rows;
  for (const Accountant each :
       {Accountant::kPure, Accountant::kBasic, Accountant::kAdvanced, Accountant::kZcdp,
        Accountant::kRdp, Accountant::kPld, Accountant::kGaussian}) {
    try {
      rows.push_back({std::string(name(each)), at(price(request, events, each))});
    } catch (const Error& error) {
      rows.push_back({std::string(name(each)), "does not apply"});
    }
  }
  print(table(rows));
}

void account(const AccountRequest& request) {
  const Accountant accountant = parse_accountant(request.accountant);
  const std::vector<Event> events = read_events(request.file);
  const Guarantee guarantee = price(request, events, accountant);
  if (request.json) {
    return print_json({{"epsilon", finite(guarantee.epsilon)},
                       {"delta", guarantee.delta},
                       {"accountant", name(guarantee.accountant)}});
  }
  for (const Event& event : events) print_line("  " + shown(describe(event)));
  print_line();
  print_line(heading(at(guarantee)));
  print_line("  proved by the " + std::string(name(guarantee.accountant)) +
             " accountant, for neighbours under " + std::string(name(common_relation(events))));
  if (std::isfinite(guarantee.epsilon)) {
    print_line("  " + std::string(verdict(band(guarantee.epsilon, guarantee.delta))));
  }
  if (request.compare) print_comparison(request, events);
}

}  // namespace

void add_account(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("account", "Price a list of events: what did it all cost?");
  auto request = std::make_shared<AccountRequest>();
  CLI::Option* delta =
      command->add_option("--delta", request->delta, "Find epsilon at this delta, 0 <= delta < 1");
  command->add_option("--epsilon", request->epsilon, "Find delta at this epsilon, 0 or more")
      ->excludes(delta);
  command->add_option("--accountant", request->accountant,
                      "pure, basic, advanced, zcdp, rdp, pld, gaussian, or best: the tightest "
                      "that applies (best)");
  command->add_option("file", request->file, "Events as JSON; - reads standard input")->required();
  command->add_flag("--compare", request->compare, "Also show what each accountant says");
  command->add_flag("--json", request->json,
                    "Print {\"epsilon\": ..., \"delta\": ..., \"accountant\": ...}");
  command->footer(
      "The answer is never below the true loss. Example, the training of a small network:\n"
      "  echo '{\"events\":[{\"type\":\"poisson_sampled\",\"rate\":0.0042666667,\"count\":14063,\n"
      "    \"event\":{\"type\":\"gaussian\",\"sigma\":1.1,\"l2_sensitivity\":1}}]}' |\n"
      "    gauze account --delta 1e-5 -");
  command->callback([request] { account(*request); });
}

}  // namespace gauze::cli
