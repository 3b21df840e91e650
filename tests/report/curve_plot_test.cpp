// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/curve_plot.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <pugixml.hpp>

#include "tests/report/golden.h"

using namespace gauntlet;

TEST_CASE("a curve is drawn as it was") {
  check_golden("curve.svg", draw({"Loss of the training run",
                                  "seconds",
                                  "nats per token",
                                  {{0, 6.2}, {1, 5.1}, {2.5, 4.4}, {30, 3.9}, {59.5, 3.85}}}));
}

TEST_CASE("a title from anywhere stays text, and what is no number is left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::string hostile = "</title><script>alert(1)</script>&\x1b[31m";
  pugi::xml_document document;
  const std::string svg = draw({hostile, hostile, "y", {{0, 1}, {1, nan}, {2, inf}, {3, 2}}});
  REQUIRE(document.load_string(svg.c_str()));
  CHECK(document.select_node("//script").node().empty());
  const std::string points =
      document.select_node("//polyline").node().attribute("points").as_string();
  CHECK(std::count(points.begin(), points.end(), ' ') == 1);  // two points are left
}

TEST_CASE("numbers that a submission made up neither fill the page nor leave it") {
  const std::vector<Curve> wild{{"huge", "x", "y", {{0, -1e308}, {1, 1e308}, {2, 3}}},
                                {"thin", "x", "y", {{0, 1}, {1, 1 + 1e-15}}},
                                {"far", "x", "y", {{0, 1e11}, {1e-9, 1e11 + 1e-4}}}};
  for (const Curve& curve : wild) {
    const std::string svg = draw(curve);
    INFO(curve.title);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.size() < 10'000);
  }
}

TEST_CASE("no points, one point and a flat line are drawn as well") {
  for (const Curve& curve : {Curve{"none", "x", "y", {}}, Curve{"one", "x", "y", {{2, 3}}},
                             Curve{"flat", "x", "y", {{0, 0}, {1, 0}}}}) {
    const std::string svg = draw(curve);
    INFO(curve.title);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
  }
}
