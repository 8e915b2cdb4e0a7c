/// `--limit` and `--after`: a page by sequence number.
package struct PageOptions: Sendable {
  package static let defaultLimit = 1000
  package static let maximumLimit = 100_000

  package var limit: Int
  package var after: Int64?

  package init(limit: Int = PageOptions.defaultLimit, after: Int64? = nil) {
    self.limit = limit
    self.after = after
  }

  func check() throws {
    guard (1...PageOptions.maximumLimit).contains(limit) else {
      throw ConsoleError.usage(
        "page.limit", "a page has 1 to \(PageOptions.maximumLimit) lines", at: "--limit",
        fix: "landline export csv for everything")
    }
    guard after.map({ $0 >= 0 }) ?? true else {
      throw ConsoleError.usage("page.after", "a sequence number is not negative", at: "--after", fix: "0 or more")
    }
  }
}
