import CallModel
import Foundation
import SIPCore
import TestVectors
import Testing

@Suite("Statuses and causes")
struct FailureCauseTests {
  static let vectors = Comment(rawValue: TestVectors.absence)

  @Test("each status and each cause has one row, in order, with words for a person")
  func rows() {
    let statuses = CauseCatalogue.statuses
    let causes = CauseCatalogue.causes
    #expect(statuses.map(\.number) == Set(statuses.map(\.number)).sorted())
    #expect(causes.map(\.number) == Set(causes.map(\.number)).sorted())
    #expect(statuses.count == 66)
    #expect(causes.count == 73)
    for status in statuses {
      #expect((300...699).contains(status.number))
      #expect(!status.phrase.isEmpty && status.meaning.hasSuffix("."), "\(status.number)")
      #expect(CauseCatalogue.status(status.number) == status)
      #expect(CallFailureCauseMapping.row(forStatus: status.number) != nil, "\(status.number)")
    }
    for cause in causes {
      #expect((1...127).contains(cause.number))
      #expect(!cause.name.isEmpty && cause.meaning.hasSuffix(".") && !cause.likelyReasons.isEmpty, "\(cause.number)")
      #expect(CauseCatalogue.cause(cause.number) == cause)
      #expect(CallFailureCauseMapping.row(forCause: cause.number) != nil, "\(cause.number)")
    }
  }

  @Test("the mapping has one row for each number, which names known numbers and says why where it is our choice")
  func mapping() {
    let statuses = CallFailureCauseMapping.statuses
    let causes = CallFailureCauseMapping.causes
    #expect(statuses.map(\.status) == Set(statuses.map(\.status)).sorted())
    #expect(causes.map(\.cause) == Set(causes.map(\.cause)).sorted())
    #expect(causes.map(\.cause) == CauseCatalogue.causes.map(\.number))
    for row in statuses {
      #expect(CauseCatalogue.cause(row.cause) != nil, "\(row.status)")
      #expect((row.note == nil) == (row.basis == .rfc3398), "\(row.status)")
      #expect(CallFailureCauseMapping.cause(forStatus: row.status) == row.cause)
    }
    for row in causes {
      #expect(CauseCatalogue.status(row.status) != nil, "\(row.cause)")
      #expect(row.statusFromUser.map { CauseCatalogue.status($0) != nil } ?? true, "\(row.cause)")
      #expect((row.note == nil) == (row.basis == .rfc3398), "\(row.cause)")
      #expect(CallFailureCauseMapping.status(forCause: row.cause) == row.status)
      #expect(
        CallFailureCauseMapping.status(forCause: row.cause, location: .user) == row.statusFromUser ?? row.status)
      #expect(CallFailureCauseMapping.status(forCause: row.cause, location: .transitNetwork) == row.status)
    }
    for text in statuses.compactMap(\.note) + causes.compactMap(\.note) {
      #expect(!text.contains("|") && !text.contains("\n"), "\(text) would break the page's table")
    }
  }

  @Test("every number in range has an answer, every number outside has none")
  func ranges() {
    for status in 300...699 {
      #expect(CallFailureCauseMapping.cause(forStatus: status).map { CauseCatalogue.cause($0) != nil } == true)
      #expect(CauseCatalogue.className(ofStatus: status) != nil)
    }
    for cause in 0...127 {
      #expect(CallFailureCauseMapping.status(forCause: cause).map { CauseCatalogue.status($0) != nil } == true)
      #expect(CauseCatalogue.className(ofCause: cause) != nil)
    }
    for number in [Int.min, -1, 0, 200, 299, 700, Int.max] {
      #expect(CallFailureCauseMapping.cause(forStatus: number) == nil)
      #expect(CauseCatalogue.className(ofStatus: number) == nil)
    }
    for number in [Int.min, -1, 128, Int.max] {
      #expect(CallFailureCauseMapping.status(forCause: number) == nil)
      #expect(CauseCatalogue.className(ofCause: number) == nil)
    }
    let fallen = [399: 23, 418: 31, 477: 31, 590: 41, 650: 21]
    for (status, cause) in fallen { #expect(CallFailureCauseMapping.cause(forStatus: status) == cause) }
    let classes = [0: 480, 15: 480, 33: 503, 60: 503, 77: 501, 94: 500, 105: 500, 120: 500]
    for (cause, status) in classes { #expect(CallFailureCauseMapping.status(forCause: cause) == status) }
  }

  @Test(
    "causes agree with the vectors where all do, and the contested ones are ours",
    .enabled(if: TestVectors.arePresent, vectors))
  func causeVectors() throws {
    // Cause → the status published here, for the rows on which the RFC and the products differ.
    let ours = [
      16: 480, 21: 403, 23: 410, 25: 483, 26: 404, 38: 503, 41: 503, 44: 503, 47: 503, 52: 403, 54: 403, 55: 403,
      57: 403, 58: 503, 65: 488, 66: 488, 69: 501, 70: 488, 79: 501, 87: 403, 88: 488, 102: 504, 111: 500, 127: 500,
    ]
    var contested: [Int: Int] = [:]
    for row in try TestVectors.table("q850/q850-to-sip.tsv") {
      let cause = try #require(row["q850_cause"].flatMap { Int($0) })
      let chosen = try #require(CallFailureCauseMapping.row(forCause: cause))
      let published = row["rfc3398_status"] ?? ""
      if row["all_agree"] == "yes" {
        #expect("\(chosen.status)" == published, "cause \(cause)")
      } else {
        contested[cause] = chosen.status
        print("contested: cause \(cause) → \(chosen.status) (\(chosen.basis.rawValue)); RFC 3398: \(published)")
      }
      #expect((chosen.basis == .rfc3398) == published.hasPrefix("\(chosen.status)"), "cause \(cause)")
    }
    #expect(contested == ours)
  }

  @Test(
    "statuses agree with the vectors where all do, and the contested ones are ours",
    .enabled(if: TestVectors.arePresent, vectors))
  func statusVectors() throws {
    // Status → the cause published here, for the rows on which the RFC and the products differ.
    let ours = [
      302: 23, 400: 41, 402: 21, 405: 63, 406: 79, 408: 102, 409: 127, 411: 127, 415: 79, 420: 127, 422: 127, 424: 127,
      428: 21, 429: 21, 433: 24, 436: 21, 437: 21, 438: 21, 480: 18, 481: 41, 482: 25, 483: 25, 485: 1, 487: 16,
      488: 88, 489: 127, 491: 41, 493: 127, 494: 127, 499: 31, 500: 41, 501: 79, 502: 38, 503: 41, 513: 127, 555: 79,
      580: 47, 599: 41, 604: 1, 606: 88, 607: 21, 608: 21, 610: 21, 699: 21,
    ]
    var contested: [Int: Int] = [:]
    for row in try TestVectors.table("q850/sip-to-q850.tsv") {
      let status = try #require(row["sip_status"].flatMap { Int($0) })
      let chosen = try #require(CallFailureCauseMapping.row(forStatus: status))
      let published = row["rfc3398_q850"] ?? ""
      if row["all_agree"] == "yes" {
        #expect("\(chosen.cause)" == published, "status \(status)")
      } else {
        contested[status] = chosen.cause
        print("contested: status \(status) → \(chosen.cause) (\(chosen.basis.rawValue)); RFC 3398: \(published)")
      }
      #expect((chosen.basis == .rfc3398) == ("\(chosen.cause)" == published), "status \(status)")
    }
    #expect(contested == ours)
  }

  @Test(
    "a cause that came goes before the table, and the context before the status",
    arguments: [
      (CallFailureEvidence(status: 486), 17),
      (CallFailureEvidence(status: 486, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 34)]), 34),
      (CallFailureEvidence(status: 486, reasons: [CallFailure.Reason(protocolName: "SIP", cause: 34)]), 17),
      (CallFailureEvidence(status: 486, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 200)]), 17),
      (CallFailureEvidence(status: 408), 102), (CallFailureEvidence(status: 408, hasRung: true), 19),
      (CallFailureEvidence(status: 487), 16), (CallFailureEvidence(status: 487, hasRingTimerFired: true), 19),
      (CallFailureEvidence(status: 480), 18), (CallFailureEvidence(status: 480, retryAfterSeconds: 5), 34),
      (CallFailureEvidence(status: 486, wasCancelledByCaller: true), 16), (CallFailureEvidence(status: 477), 31),
      (CallFailureEvidence(status: 200), nil), (CallFailureEvidence(status: -1), nil),
    ] as [(CallFailureEvidence, Int?)])
  func evidence(_ evidence: CallFailureEvidence, _ cause: Int?) {
    #expect(evidence.causeOrMapped == cause)
    #expect(CallFailure(evidence, trunk: nil).causeOrMapped == cause)
  }

  @Test("header fields become evidence, and those that cannot be read are left out")
  func fields() {
    let read = CallFailureEvidence(
      status: 503, phrase: "No circuit", reasonFields: ["SIP;cause=503", "Q.850;cause=17;location=LN"],
      retryAfterField: "30 (soon)", hasRung: true)
    #expect(read.reasons.map(\.protocolName) == ["SIP", "Q.850"])
    #expect(read.cause == 17 && read.retryAfterSeconds == 30 && read.hasRung && read.code == .busy)
    let unread = CallFailureEvidence(
      status: 480, phrase: "", reasonFields: ["\"", "Q.850;cause=abc"], retryAfterField: "soon")
    #expect(unread.cause == nil && unread.retryAfterSeconds == nil && unread.code == .unreachable)
    #expect(unread.causeOrMapped == 18)
  }

  @Test("a refusal of the gateway has a cause for the telephone network too")
  func refusals() {
    let expected: [CallFailureCode: Int?] = [
      .funds: 21, .rate: 21, .policy: 21, .limit: 21, .noRoute: 41, .billing: 41, .currency: 41,
      .account: 21,
    ]
    for refusal in CallRefusal.allCases {
      #expect(CallFailure(refusal).causeOrMapped == expected[refusal.code] ?? -1, "\(refusal)")
    }
    #expect(CallFailure(.networkLost).causeOrMapped == nil)
  }

  @Test("the page of documentation is the mapping's rendering")
  func page() throws {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = package.appendingPathComponent("Sources/SIPCore/SIPCore.docc/CauseMapping.md")
    if ProcessInfo.processInfo.environment["LANDLINE_WRITE_PAGES"] == "1" {
      try CauseCatalogue.mappingMarkdown.write(to: page, atomically: true, encoding: .utf8)
    }
    #expect(
      try String(contentsOf: page, encoding: .utf8) == CauseCatalogue.mappingMarkdown,
      "run this test with LANDLINE_WRITE_PAGES=1 to render the page again")
  }
}
