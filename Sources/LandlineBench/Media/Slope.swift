/// A straight line through points, by least squares.
struct Slope: Sendable, Encodable {
  /// Units of y for one of x.
  let value: Double
  /// Half of the interval that holds it with a probability of 95 %.
  let halfInterval: Double
  /// There were points enough for both.
  let isKnown: Bool

  /// Points are not independent of each other: a heap that has grown stays. The means of so many parts of the x axis
  /// are taken for the uncertainty in their place.
  private static let parts = 12
  /// Student's t for ``parts`` - 2 degrees of freedom, both sides, 95 %.
  private static let student = 2.228

  init(_ points: [(x: Double, y: Double)]) {
    guard let low = points.map(\.x).min(), let high = points.map(\.x).max(), high > low else {
      (value, halfInterval, isKnown) = (0, .infinity, false)
      return
    }
    value = Self.line(points).slope
    var sums = Array(repeating: (x: 0.0, y: 0.0, count: 0.0), count: Self.parts)
    for point in points {
      let part = min(Self.parts - 1, Int((point.x - low) / (high - low) * Double(Self.parts)))
      sums[part].x += point.x
      sums[part].y += point.y
      sums[part].count += 1
    }
    let means = sums.filter { $0.count > 0 }.map { (x: $0.x / $0.count, y: $0.y / $0.count) }
    guard means.count == Self.parts else {
      (halfInterval, isKnown) = (.infinity, false)
      return
    }
    let line = Self.line(means)
    let rest = means.reduce(0.0) { sum, point in
      let distance = point.y - line.intercept - line.slope * point.x
      return sum + distance * distance
    }
    halfInterval = Self.student * (rest / Double(Self.parts - 2) / line.spread).squareRoot()
    isKnown = true
  }

  private static func line(_ points: [(x: Double, y: Double)]) -> (slope: Double, intercept: Double, spread: Double) {
    let count = Double(points.count)
    let x = points.map(\.x).reduce(0, +) / count
    let y = points.map(\.y).reduce(0, +) / count
    let spread = points.reduce(0.0) { $0 + ($1.x - x) * ($1.x - x) }
    let slope = points.reduce(0.0) { $0 + ($1.x - x) * ($1.y - y) } / spread
    return (slope, y - slope * x, spread)
  }
}
