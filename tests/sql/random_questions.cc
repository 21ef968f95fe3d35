#include "random_questions.h"

namespace gauze::sql_test {

std::string RandomQuestions::next() {
  alias_ = 0;
  with_.clear();
  if (dice_.chance(20)) return columns_only(private_relation(0));
  const From from = private_relation(2);
  const std::string where = dice_.chance(35) ? " WHERE " + conditions(from) : "";
  std::string list, group, call;
  const int keys = dice_.between(0, 2);
  for (int k = 0; k < keys; ++k) {
    const std::string key = key_expression(from);
    list += (list.empty() ? "" : ", ") + key;
    group += (k == 0 ? " GROUP BY " : ", ") + (dice_.chance(30) ? std::to_string(k + 1) : key);
  }
  for (int a = dice_.between(keys > 0 && dice_.chance(5) ? 0 : 1, 4); a > 0; --a) {
    call = aggregate(from.fields);
    list += (list.empty() ? "" : ", ") + call;
  }
  std::string sql = "SELECT " + list + " FROM " + from.sql + where + group;
  if (!call.empty() && dice_.chance(10)) sql += " HAVING " + call + " > 0";
  if (dice_.chance(10)) sql += " ORDER BY 1 LIMIT 5";
  return (with_.empty() ? "" : "WITH " + with_ + " ") + sql;
}

std::string RandomQuestions::columns_only(const From& from) {
  std::string list, group;
  const auto column_of = [&] {
    for (;;) {
      const Field& field = dice_.of(from.fields);
      if (field.kind != Kind::kUnit) return field.name;
    }
  };
  for (int k = dice_.between(0, 2); k > 0; --k) {
    const std::string key = column_of();
    list += key + ", ";
    group += (group.empty() ? " GROUP BY " : ", ") + key;
  }
  const Field* unit = first(from.fields, Kind::kUnit);
  for (int a = dice_.between(1, 3); a > 0; --a) {
    const std::size_t choice = dice_.below(9);
    if (choice < 4) {
      list += dice_.of({"SUM(", "AVG(", "COUNT(", "COUNT(DISTINCT ", "MEDIAN(", "VAR_POP("});
      list += column_of() + ")";
    } else if (choice < 6 && unit) {
      list += "COUNT(DISTINCT " + unit->name + ")";
    } else if (choice < 8) {
      list += dice_.of({"SUM(", "AVG("});
      list += expression(from.fields, dice_.of({Kind::kReal, Kind::kWhole}), 0) + ")";
    } else {
      list += "COUNT(*)";
    }
    if (a > 1) list += ", ";
  }
  return "SELECT " + list + " FROM " + from.sql + group;
}

std::string RandomQuestions::name(const char* letter) {
  return letter + std::to_string(++alias_);
}

Fields RandomQuestions::fields_of(const std::string& table) {
  using K = Kind;
  if (table == "visits")
    return {{"u", K::kUnit},     {"vid", K::kKey},   {"ward", K::kCategory}, {"town", K::kText},
            {"days", K::kWhole}, {"cost", K::kReal}, {"big", K::kWhole},     {"code", K::kKey},
            {"day", K::kDate},   {"at", K::kTime},   {"flag", K::kBoolean},  {"dec", K::kReal}};
  if (table == "people")
    return {{"u", K::kUnit}, {"sex", K::kCategory}, {"age", K::kWhole}, {"height", K::kKey}};
  if (table == "tests") return {{"vid", K::kKey}, {"kind", K::kText}, {"value", K::kReal}};
  if (table == "survey")
    return {{"q", K::kWhole},   {"ward", K::kCategory}, {"income", K::kReal}, {"big", K::kWhole},
            {"town", K::kText}, {"ref", K::kKey},       {"day", K::kDate}};
  if (table == "survey2") return {{"q", K::kWhole}, {"ward", K::kCategory}, {"income", K::kReal}};
  if (table == "wards")
    return {
        {"ward", K::kCategory}, {"floor", K::kWhole}, {"building", K::kText}, {"rate", K::kReal}};
  return {{"k", K::kKey}, {"x", K::kKey}, {"label", K::kCategory}, {"w", K::kWhole}};
}

From RandomQuestions::table(const std::string& table, From::Owner owner) {
  const std::string alias = name("t");
  From from{owner, table + " AS " + alias, {}};
  for (const Field& field : fields_of(table))
    from.fields.push_back({alias + "." + field.name, field.kind});
  return from;
}

std::string RandomQuestions::column(const Field& field) {
  return field.name.substr(field.name.find('.') + 1);
}

const Field* RandomQuestions::first(const Fields& fields, Kind kind) {
  for (const Field& field : fields)
    if (field.kind == kind) return &field;
  return nullptr;
}

const Field* RandomQuestions::named(const Fields& fields, const std::string& name) {
  for (const Field& field : fields)
    if (column(field) == name) return &field;
  return nullptr;
}

From RandomQuestions::private_relation(int depth) {
  const int choice = dice_.between(0, depth > 0 ? 15 : 3);
  switch (choice) {
    case 0:
    case 1:
      return table("visits", From::Owner::kUnit);
    case 2:
      return table(dice_.of({"people", "tests", "visits"}), From::Owner::kUnit);
    case 3:
      return table(dice_.of({"survey", "survey", "survey2"}), From::Owner::kRow);
    case 4:
      return sub_select(private_relation(depth - 1));
    case 5:
      return with_public(private_relation(depth - 1));
    case 6:
    case 7:
      return private_join(depth);
    case 8:
      return union_all(depth);
    case 9:
      return by_unit(depth);
    case 10:
      return distinct(depth);
    case 11:
      return common(depth);
    default:
      break;
  }
  const From rows = table(dice_.of({"survey", "survey", "survey2"}), From::Owner::kRow);
  switch (dice_.between(0, 3)) {
    case 0:
      return with_public(rows);
    case 1:
      return sub_select(with_public(rows));
    case 2:
      return with_public(sub_select(rows));
    default:
      return sub_select(rows);
  }
}

From RandomQuestions::unit_relation(int depth) {
  for (int i = 0; i < 5; ++i) {
    const From from = private_relation(depth);
    if (from.owner == From::Owner::kUnit && first(from.fields, Kind::kUnit)) return from;
  }
  return table("visits", From::Owner::kUnit);
}

From RandomQuestions::sub_select(const From& input) {
  const std::string alias = name("s");
  From from{input.owner, "", {}};
  std::string list;
  int n = 0;
  const auto add = [&](const std::string& sql, Kind kind) {
    const std::string column = "c" + std::to_string(++n);
    list += (list.empty() ? "" : ", ") + sql + " AS " + column;
    from.fields.push_back({alias + "." + column, kind});
  };
  if (const Field* unit = first(input.fields, Kind::kUnit)) add(unit->name, Kind::kUnit);
  for (int i = dice_.between(2, 6); i > 0; --i) {
    if (dice_.chance(50)) {
      const Field& field = dice_.of(input.fields);
      if (field.kind != Kind::kUnit) add(field.name, field.kind);
      continue;
    }
    const Kind kind = dice_.of(
        {Kind::kWhole, Kind::kReal, Kind::kText, Kind::kBoolean, Kind::kDate, Kind::kCategory});
    add(expression(input.fields, kind, 2), kind == Kind::kCategory ? Kind::kText : kind);
  }
  from.sql = "(SELECT " + (list.empty() ? "1 AS c1" : list) + " FROM " + input.sql;
  if (list.empty()) from.fields.push_back({alias + ".c1", Kind::kWhole});
  if (dice_.chance(20)) from.sql += " WHERE " + conditions(input);
  from.sql += ") AS " + alias;
  return from;
}

From RandomQuestions::with_public(From left) {
  From right = table(dice_.of({"wards", "codes"}), From::Owner::kNobody);
  std::string on;
  const bool wards = right.sql.starts_with("wards");
  if (dice_.chance(20)) right = filtered(right);
  const auto right_column = [&](const char* column) {
    const Field* found = named(right.fields, column);
    return found ? found->name : std::string("missing");
  };
  if (wards) {
    const Field* ward = first(left.fields, Kind::kCategory);
    on = (ward ? ward->name : expression(left.fields, Kind::kText, 0)) + " = " +
         right_column("ward");
  } else {
    const Field* key = nullptr;
    for (int i = 0; i < 8 && !key; ++i) {
      const Field& field = dice_.of(left.fields);
      if (field.kind == Kind::kKey || field.kind == Kind::kWhole) key = &field;
    }
    on = (key ? key->name : expression(left.fields, Kind::kWhole, 1)) + " = " +
         right_column(dice_.chance(70) ? "k" : "x");
  }
  if (dice_.chance(10)) on += " AND " + condition(both(left, right).fields, 1);
  const int kind = dice_.between(0, 9);
  From from = both(left, right);
  from.owner = left.owner;
  if (kind < 5) {
    from.sql = left.sql + " JOIN " + right.sql + " ON " + on;
  } else if (kind < 8) {
    from.sql = left.sql + " LEFT JOIN " + right.sql + " ON " + on;
  } else if (kind < 9) {
    from.sql = right.sql + " JOIN " + left.sql + " ON " + on;
  } else {
    from.sql = right.sql + " RIGHT JOIN " + left.sql + " ON " + on;
  }
  return from;
}

From RandomQuestions::filtered(const From& input) {
  const std::string alias = name("f");
  From from{input.owner, "", {}};
  std::string list;
  for (const Field& field : input.fields) {
    list += (list.empty() ? "" : ", ") + field.name + " AS " + column(field);
    from.fields.push_back({alias + "." + column(field), field.kind});
  }
  from.sql = "(SELECT " + list + " FROM " + input.sql + " WHERE " + condition(input.fields, 1) +
             ") AS " + alias;
  return from;
}

From RandomQuestions::both(const From& left, const From& right) {
  From from{left.owner, "", left.fields};
  from.fields.insert(from.fields.end(), right.fields.begin(), right.fields.end());
  return from;
}

From RandomQuestions::private_join(int depth) {
  From left = dice_.chance(50) ? unit_relation(depth - 1) : table("visits", From::Owner::kUnit);
  From right = dice_.chance(60) ? table(dice_.of({"people", "visits"}), From::Owner::kUnit)
                                : unit_relation(depth - 1);
  std::string on;
  if (dice_.chance(20)) {
    right = table("tests", From::Owner::kUnit);
    const Field* key = named(left.fields, "vid");
    on = (key ? key->name : std::string("missing")) + " = " + named(right.fields, "vid")->name;
  } else {
    const Field *a = first(left.fields, Kind::kUnit), *b = first(right.fields, Kind::kUnit);
    if (!a || !b) return left;
    on = a->name + " = " + b->name;
  }
  if (dice_.chance(10)) on += " AND " + condition(both(left, right).fields, 1);
  From from = both(left, right);
  from.sql = left.sql + (dice_.chance(65) ? " JOIN " : " LEFT JOIN ") + right.sql + " ON " + on;
  return from;
}

From RandomQuestions::union_all(int depth) {
  const From one =
      depth > 1 && dice_.chance(50) ? private_relation(depth - 1) : private_relation(0);
  const From other = one.owner == From::Owner::kRow
                         ? table(dice_.of({"survey", "survey2"}), From::Owner::kRow)
                     : dice_.chance(50) ? one
                                        : unit_relation(0);
  const std::string alias = name("n");
  From from{one.owner, "", {}};
  std::string a, b;
  int n = 0;
  const auto add = [&](const std::string& x, const std::string& y, Kind kind) {
    const std::string column = "c" + std::to_string(++n);
    a += (n > 1 ? ", " : "") + x + " AS " + column;
    b += (n > 1 ? ", " : "") + y + " AS " + column;
    from.fields.push_back({alias + "." + column, kind});
  };
  const Field *u = first(one.fields, Kind::kUnit), *v = first(other.fields, Kind::kUnit);
  if (u && v) add(u->name, v->name, Kind::kUnit);
  for (int i = dice_.between(1, 4); i > 0; --i) {
    const Kind kind =
        dice_.of({Kind::kWhole, Kind::kReal, Kind::kText, Kind::kBoolean, Kind::kDate});
    add(expression(one.fields, kind, 1), expression(other.fields, kind, 1), kind);
  }
  from.sql = "(SELECT " + a + " FROM " + one.sql +
             (dice_.chance(30) ? " WHERE " + condition(one.fields, 1) : "") + " UNION ALL SELECT " +
             b + " FROM " + other.sql +
             (dice_.chance(30) ? " WHERE " + condition(other.fields, 1) : "") + ") AS " + alias;
  return from;
}

From RandomQuestions::by_unit(int depth) {
  const From input = unit_relation(depth - 1);
  const Field* unit = first(input.fields, Kind::kUnit);
  const std::string alias = name("g");
  From from{From::Owner::kUnit, "", {{alias + ".c1", Kind::kUnit}}};
  std::string list = unit->name + " AS c1", group = unit->name;
  int n = 1;
  const auto add = [&](const std::string& sql, Kind kind) {
    const std::string column = "c" + std::to_string(++n);
    list += ", " + sql + " AS " + column;
    from.fields.push_back({alias + "." + column, kind});
  };
  if (dice_.chance(40)) {
    const Kind kind =
        dice_.of({Kind::kCategory, Kind::kText, Kind::kBoolean, Kind::kWhole, Kind::kDate});
    const std::string key = expression(input.fields, kind, 1);
    add(key, kind);
    group += ", " + key;
  }
  static const std::vector<std::pair<std::string_view, Kind>> kAggregates = {
      {"COUNT(*)", Kind::kWhole},
      {"COUNT({any})", Kind::kWhole},
      {"COUNT(DISTINCT {any})", Kind::kWhole},
      {"SUM({whole})", Kind::kWhole},
      {"SUM({real})", Kind::kReal},
      {"AVG({number})", Kind::kReal},
      {"MIN({date})", Kind::kDate},
      {"MAX({whole})", Kind::kWhole}};
  for (int i = dice_.between(1, 3); i > 0; --i) {
    const auto& [pattern, kind] = dice_.of(kAggregates);
    add(filled(pattern, input.fields, kind, 1), kind);
  }
  from.sql = "(SELECT " + list + " FROM " + input.sql +
             (dice_.chance(30) ? " WHERE " + conditions(input) : "") + " GROUP BY " + group +
             (dice_.chance(20) ? " HAVING COUNT(*) > 1" : "") + ") AS " + alias;
  return from;
}

From RandomQuestions::distinct(int depth) {
  const From input = unit_relation(depth - 1);
  const std::string alias = name("d");
  From from{From::Owner::kUnit, "", {{alias + ".c1", Kind::kUnit}}};
  std::string list = first(input.fields, Kind::kUnit)->name + " AS c1";
  const int columns = dice_.between(1, 3);
  for (int i = 2; i <= columns; ++i) {
    const Kind kind =
        dice_.of({Kind::kCategory, Kind::kText, Kind::kWhole, Kind::kReal, Kind::kDate});
    const std::string column = "c" + std::to_string(i);
    list += ", " + expression(input.fields, kind, 1) + " AS " + column;
    from.fields.push_back({alias + "." + column, kind});
  }
  from.sql = "(SELECT DISTINCT " + list + " FROM " + input.sql + ") AS " + alias;
  return from;
}

From RandomQuestions::common(int depth) {
  const From input = sub_select(private_relation(depth - 1));
  const std::string query = input.sql.substr(1, input.sql.rfind(") AS ") - 1);
  const std::string cte = name("w"), alias = name("t");
  with_ += (with_.empty() ? "" : ", ") + cte + " AS (" + query + ")";
  From from{input.owner, cte + " AS " + alias, {}};
  for (const Field& field : input.fields)
    from.fields.push_back({alias + "." + column(field), field.kind});
  if (dice_.chance(30) && input.owner == From::Owner::kUnit && first(from.fields, Kind::kUnit)) {
    const std::string again = name("t");
    From joined = from;
    for (const Field& field : input.fields)
      joined.fields.push_back({again + "." + column(field), field.kind});
    joined.sql += " JOIN " + cte + " AS " + again + " ON " + first(from.fields, Kind::kUnit)->name +
                  " = " + again + "." + column(*first(input.fields, Kind::kUnit));
    return joined;
  }
  return from;
}

}  // namespace gauze::sql_test
