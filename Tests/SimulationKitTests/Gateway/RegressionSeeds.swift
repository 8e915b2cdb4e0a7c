/// Seeds that have broken a rule once, with the hours of their run.
enum RegressionSeeds {
  static let all: [(seed: UInt64, hours: Int)] = [
    (1, 1)
  ]
}
