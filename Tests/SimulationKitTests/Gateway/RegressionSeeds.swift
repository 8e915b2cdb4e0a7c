/// Seeds that have broken a rule once, with the hours of their run, and what was wrong then. A seed means what the plan
/// draws from it: whoever changes the plan finds such worlds anew.
enum RegressionSeeds {
  static let all: [(UInt64, Int)] = [
    // A side that came back from hold and stayed silent was thought to be charged too little.
    (4, 2),
    // A credential that an app is told was taken for the password of a trunk.
    (10, 1), (18, 1),
    // An answer that went to the spool without asking the ledger was not seen; one was spooled again, which the ledger had.
    (60, 2), (89, 2),
  ]
}
