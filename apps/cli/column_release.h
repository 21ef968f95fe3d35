#pragma once

#include <map>
#include <string>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/release.h"
#include "gauze/service/workspace.h"
#include "text.h"

namespace gauze::cli {

/// An algorithm on one column of a private table.
struct ColumnRequest {
  std::string algorithm;
  nlohmann::json options;
  service::DataOptions data;
  std::string table, column;
  double confidence = 0.95;
  double quote_delta = 1e-6;
  bool accept_weak = false;
  bool json = false;
};

/// Releases it through the one door, with the ledger if there is one, and prints it.
void release_column(const ColumnRequest& request);

/// The delta at which a cost is quoted: that of the release, unless another is asked for.
double quote_delta(const std::string& asked, const std::map<std::string, std::string>& options);

/// What an event costs at delta 0 where that exists, else at `delta`. Rounded up, but a short decimal is
/// given as itself.
Guarantee price_of(const Event& event, double delta);

/// The request of a job in JSON at the epsilon that its options name, as it was written: the accountant's last digits are no part of
/// what was asked for.
Request request_for(const service::Workspace& workspace, const nlohmann::json& job,
                    const Guarantee& cost);

/// A released value with its accuracy and cost, for people or as JSON. Which rows took part and what is left are
/// printed behind it where they are not empty; a null value, which was printed before, is not.
void print_release(const Release<nlohmann::json>& answer, const Guarantee& cost, bool json,
                   const std::string& counted = "", const std::string& left = "");

}  // namespace gauze::cli
