#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gauze/data/value.h"

namespace gauze {

/// A released table.
struct Answer {
  struct Column {
    std::string name;
    Type type;
    bool is_key;
  };
  struct Cell {
    Value value;
    /// 95 %: the answer without noise lies within. Infinite where nobody knows; nothing for keys and
    /// texts.
    std::optional<double> half_width;
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// A picture as data. Front ends draw it: the terminal, a page, a notebook.
struct Figure {
  /// One bar per row of `answer` for each number, or a line where the first key is a date.
  struct Bars {
    Answer answer;
  };
  /// Counts over two ordered axes, as in an image: `values[y * columns + x]`, each for an area as large
  /// as the first.
  struct Heat {
    std::string x, y;                   ///< what the axes are: "age: 0 to 99"
    std::vector<std::string> x_labels;  ///< where each column begins, from left to right
    std::vector<std::string> y_labels;  ///< where each row begins, from the bottom up
    std::vector<double> values;
    double half_width = 0;  ///< 95 %, of the first value
  };
  /// Points joined by a line, with a band of `half_width` where there is one.
  struct Curve {
    std::string x, y;
    struct Point {
      double x = 0, y = 0, half_width = 0;
    };
    std::vector<Point> points;
  };
  std::string title;
  std::variant<Bars, Heat, Curve> drawing;
};

/// What a release leaves behind as a file: a model, a synopsis. The service writes it with its format,
/// its version and a checksum, and refuses on reading what does not fit them.
struct Artifact {
  std::string format;  ///< "linear_model"
  std::uint32_t version = 1;
  std::string ending = ".json";  ///< of the file
  std::string bytes;
};

/// A line below an answer: "method" and "dawa, because ...".
struct Note {
  std::string label;
  std::string text;
};

/// What a run has released, in pieces that every front end can show. Nothing in it is private any more.
struct Result {
  std::string title = {};  ///< of a page: "age of visits"
  /// What JSON says of it, without what every release says: cost, unit, what is left.
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  /// The value in plain words, where it is no table: one line or several.
  std::string text = {};
  std::optional<Answer> table = {};  ///< what files hold
  /// For people: the same with few rows, or what was asked. Without it they see the heat map, if that is
  /// the first figure, else the table.
  std::optional<Answer> summary = {};
  std::vector<Figure> figures = {};
  std::optional<Artifact> artifact = {};
  std::vector<Note> notes = {};  ///< the method taken and why; what no error bar holds
};

/// What is known of a release before anything is read: plan, noise, expected error.
struct Explanation {
  /// A table of texts with a head; `sides` has an l or an r for each column, as in the service's text.
  struct Table {
    std::vector<std::vector<std::string>> rows;
    std::string sides;
  };
  std::vector<std::variant<std::string, Table>> parts;
  std::vector<Note> notes = {};
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

}  // namespace gauze
