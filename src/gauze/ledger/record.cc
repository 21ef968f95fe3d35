#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/ledger/ledger.h"
#include "gauze/ledger/record_internal.h"

namespace gauze::ledger {
namespace {

// A decimal of 30 places has a denominator of 100 bits. Totals may be somewhat longer: beyond, only
// multiples of 10^-30 are added, which lengthen them no further than by another 100 bits.
constexpr std::size_t kPriceBits = 100;
constexpr std::size_t kTotalBits = 256;

std::size_t denominator_bits(const Ratio& value) {
  return mpz_sizeinbase(mpq_denref(value.backend().data()), 2);
}

std::size_t denominator_bits(const Budget& budget) {
  return std::max(denominator_bits(budget.amount), denominator_bits(budget.delta));
}

/// Runs the reader; whatever it cannot read is damage.
template <class Reader>
auto intact(const Record& record, const char* what, Reader reader) {
  try {
    return reader();
  } catch (const Error&) {
    damaged(record.id, what);
  } catch (const nlohmann::json::exception&) {
    damaged(record.id, what);
  }
}

Budget amount_in(const Record& record, const std::string& amount, const std::string& delta) {
  return intact(record, "holds no amount", [&] {
    Budget budget{Budget::Currency::kPure, parse_ratio(amount), parse_ratio(delta)};
    require(budget.amount >= 0 && budget.delta >= 0, "amounts are not negative");
    if (record.currency == name(Budget::Currency::kZcdp)) {
      budget.currency = Budget::Currency::kZcdp;
    } else if (record.currency == name(Budget::Currency::kApproximate)) {
      budget.currency = Budget::Currency::kApproximate;
    } else {
      require(record.currency == name(Budget::Currency::kPure), "no currency");
    }
    return budget;
  });
}

}  // namespace

std::string digest(std::span<const std::string_view> parts) {
  std::string message;
  for (const std::string_view part : parts) {
    message.append(std::to_string(part.size())).append(":").append(part).append(",");
  }
  std::array<unsigned char, 32> bytes{};
  if (EVP_Digest(message.data(), message.size(), bytes.data(), nullptr, EVP_sha256(), nullptr) !=
      1) {
    throw Error(ErrorCode::kInternal, "SHA-256 is not available");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string hash_of(const Record& record) {
  std::array<std::string_view, kFields.size() - 1> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = record.*kFields[i].second;
  return digest(parts);
}

std::string request_of(const std::string& dataset, const std::string& analyst,
                       const std::string& query, const std::string& event) {
  const std::array<std::string_view, 4> parts = {dataset, analyst, query, event};
  return digest(parts);
}

Record record_from(const std::vector<std::string>& row) {
  if (row.size() < kFields.size()) damaged("?", "has too few columns");
  Record record;
  for (std::size_t i = 0; i < kFields.size(); ++i) record.*kFields[i].second = row[i];
  if (record.hash != hash_of(record)) damaged(record.id, "was altered: its hash does not fit");
  return record;
}

void damaged(std::string_view id, const std::string& why) {
  throw Error(ErrorCode::kLedgerDamaged,
              "the ledger is damaged: record " + std::string(id.substr(0, 20)) + " " + why +
                  "; nothing was granted. Keep the file, restore a copy, and do not let anybody "
                  "ask before the spending since then is known");
}

std::uint64_t number_in(const Record& record, const std::string& field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) {
    damaged(record.id, "holds no number");
  }
  return value;
}

Budget budget_in(const Record& record) {
  return amount_in(record, record.amount, record.delta);
}
Budget spent_in(const Record& record) {
  return amount_in(record, record.spent_amount, record.spent_delta);
}
Budget analyst_spent_in(const Record& record) {
  return amount_in(record, record.analyst_amount, record.analyst_delta);
}
Relation relation_in(const Record& record) {
  return intact(record, "holds no relation", [&] { return parse_relation(record.relation); });
}
Event event_in(const Record& record) {
  return intact(record, "holds no event",
                [&] { return event_from_json(nlohmann::json::parse(record.event)); });
}

CountedSchema schema_in(const Record& record) {
  return intact(record, "names no schema", [&] {
    const auto json = nlohmann::json::parse(record.query);
    CountedSchema schema{json.at("digest"), json.at("file"), json.at("database")};
    require(is_digest(schema.digest), "no digest");
    return schema;
  });
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Budget plus(const Budget& one, const Budget& other) {
  return {one.currency, one.amount + other.amount, one.delta + other.delta};
}

Budget price_of(const Event& event, Budget::Currency currency, const std::optional<Budget>& asked) {
  if (!asked || currency != Budget::Currency::kApproximate) return Budget::price(event, currency);
  require(asked->currency == currency, "asked: must be an epsilon with a delta");
  // Where no noise needs the delta, it is left to other questions.
  if (const auto basic = Budget::basic_price(event); basic && asked->covers(*basic)) return *basic;
  const Budget price = Budget::price(event, currency, asked->delta);
  // Where delta is spent at all, the cost is the round number that was asked for, not the accountant's
  // last digits: three questions at epsilon 1 leave nothing of 3.
  return price.delta > 0 && asked->covers(price) ? *asked : price;
}

Budget shortened(const Budget& price, std::span<const Budget> totals) {
  const bool fits = denominator_bits(price) <= kPriceBits &&
                    std::all_of(totals.begin(), totals.end(), [&](const Budget& total) {
                      return denominator_bits(plus(total, price)) <= kTotalBits;
                    });
  return fits ? price : price.rounded_up();
}

bool is_short(const Ratio& value) {
  return denominator_bits(value) <= kPriceBits && value < pow(Integer(10), 30);
}

}  // namespace gauze::ledger
