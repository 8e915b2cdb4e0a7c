import CallModel
import Foundation
import TestVectors
import Testing

@Suite("Call failures")
struct CallFailureTests {
  @Test("every code has exactly one row, in its domain and with words for a person")
  func rows() {
    #expect(CallFailureCatalogue.rows.map(\.code) == CallFailureCode.allCases)
    for row in CallFailureCatalogue.rows {
      #expect(row.code.rawValue.hasPrefix(row.domain.codePrefix), "\(row.code)")
      #expect(row.code.details == row)
      #expect(row.meaning.hasSuffix(".") && !row.name.isEmpty, "\(row.code)")
      #expect(!row.likelyCauses.isEmpty && !row.remedies.isEmpty, "\(row.code)")
      #expect(row.statuses.allSatisfy { (300...699).contains($0) }, "\(row.code)")
      #expect(row.causes.allSatisfy { (0...127).contains($0) }, "\(row.code)")
      #expect(row.endCause != .none, "\(row.code)")
      for text in [row.name, row.meaning] + row.likelyCauses + row.remedies {
        #expect(!text.contains("|") && !text.contains("\n"), "\(row.code) would break the page's table")
      }
    }
    #expect(
      CallFailureDomain.allCases.allSatisfy { domain in CallFailureCatalogue.rows.contains { $0.domain == domain } })
  }

  @Test("the page of documentation is the catalogue's rendering")
  func page() throws {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = package.appendingPathComponent("Sources/CallModel/CallModel.docc/CallFailures.md")
    if ProcessInfo.processInfo.environment["LANDLINE_WRITE_PAGES"] == "1" {
      try CallFailureCatalogue.markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: page, encoding: .utf8)
    #expect(
      written == CallFailureCatalogue.markdown,
      "run this test with LANDLINE_WRITE_PAGES=1 to render the page again")
  }

  @Test(
    "a status alone has its class",
    arguments: [
      (486, .busy), (600, .busy), (603, .declined), (607, .blocked), (608, .blocked), (404, .unallocated),
      (484, .unallocated), (485, .unallocated), (604, .unallocated), (480, .unreachable), (410, .unreachable),
      (408, .unreachable), (487, .cancelled), (401, .trunkAuth), (402, .trunkAuth), (403, .trunkAuth),
      (407, .trunkAuth),
      (428, .identity), (429, .identity), (433, .identity), (436, .identity), (437, .identity), (438, .identity),
      (406, .media), (415, .media), (488, .media), (606, .media), (420, .negotiation), (421, .negotiation),
      (422, .negotiation), (423, .negotiation), (494, .negotiation), (500, .congestion), (502, .congestion),
      (503, .congestion), (504, .congestion), (302, .redirect), (399, .redirect), (400, .request), (482, .request),
      (499, .request), (501, .server), (580, .server), (599, .server), (601, .global), (699, .global),
      (0, .protocolBroken), (100, .protocolBroken), (200, .protocolBroken), (299, .protocolBroken),
      (700, .protocolBroken), (-1, .protocolBroken), (Int.max, .protocolBroken), (Int.min, .protocolBroken),
    ] as [(Int, CallFailureCode)])
  func statuses(_ status: Int, _ code: CallFailureCode) {
    #expect(CallFailureEvidence(status: status).code == code)
    let failure = CallFailure(CallFailureEvidence(status: status), trunk: "t1")
    #expect(failure.code == code)
    #expect(failure.sipStatus == status)
    #expect(failure.domain == .sip)
  }

  static func cause(_ value: Int) -> [CallFailure.Reason] { [CallFailure.Reason(protocolName: "Q.850", cause: value)] }

  @Test(
    "the context tells shared statuses apart",
    arguments: [
      (CallFailureEvidence(status: 408, hasRung: true), .noAnswer),
      (CallFailureEvidence(status: 487, hasRung: true, wasCancelledByCaller: true), .cancelled),
      (CallFailureEvidence(status: 487, hasRung: true, hasRingTimerFired: true), .noAnswer),
      (CallFailureEvidence(status: 486, wasCancelledByCaller: true), .cancelled),
      (CallFailureEvidence(status: 480, hasRung: true, hasRingTimerFired: true), .noAnswer),
      (CallFailureEvidence(status: 480, retryAfterSeconds: 5), .congestion),
      (CallFailureEvidence(status: 480, reasons: cause(19)), .noAnswer),
      (CallFailureEvidence(status: 480, reasons: cause(18)), .unreachable),
      (CallFailureEvidence(status: 480, reasons: cause(17)), .busy),
      (CallFailureEvidence(status: 480, reasons: cause(1)), .unallocated),
      (CallFailureEvidence(status: 480, reasons: cause(16)), .unreachable),
      (CallFailureEvidence(status: 403, reasons: cause(31)), .trunkAuth),
      (CallFailureEvidence(status: 503, reasons: cause(16)), .congestion),
      (CallFailureEvidence(status: 500, reasons: cause(41)), .congestion),
      (CallFailureEvidence(status: 503, reasons: cause(17)), .busy),
      (CallFailureEvidence(status: 503, reasons: cause(3)), .transport),
      (CallFailureEvidence(status: 403, reasons: cause(21)), .trunkAuth),
      (CallFailureEvidence(status: 403, reasons: cause(28)), .unallocated),
      (CallFailureEvidence(status: 403, reasons: cause(57)), .trunkAuth),
      (CallFailureEvidence(status: 486, reasons: cause(1)), .busy),
      (CallFailureEvidence(status: 404, reasons: cause(17)), .unallocated),
      (CallFailureEvidence(status: 499, reasons: cause(17)), .busy),
      (CallFailureEvidence(status: 499, reasons: cause(999)), .request),
      (CallFailureEvidence(status: 480, reasons: [CallFailure.Reason(protocolName: "SIP", cause: 17)]), .unreachable),
      (CallFailureEvidence(status: 603, phrase: "Network Blocked"), .blocked),
      (CallFailureEvidence(status: 603, phrase: "Decline"), .declined),
      (
        CallFailureEvidence(
          status: 603,
          reasons: [CallFailure.Reason(protocolName: "SIP", cause: 603, text: "v=analytics1;url=https://example.com")]),
        .blocked
      ),
    ] as [(CallFailureEvidence, CallFailureCode)])
  func contexts(_ evidence: CallFailureEvidence, _ code: CallFailureCode) {
    #expect(evidence.code == code)
  }

  @Test("refusals become gateway failures with a status and a name")
  func refusals() {
    let expected: [(CallRefusal, CallFailureCode, Int)] = [
      (.insufficientCredit, .funds, 402), (.noRate, .rate, 403), (.destinationBlocked, .policy, 403),
      (.countryNotAllowed, .policy, 403), (.rateTooHigh, .policy, 403), (.accountLocked, .policy, 403),
      (.accountClosed, .policy, 403), (.unknownAccount, .account, 403), (.concurrencyCap, .limit, 403),
      (.rateCap, .limit, 403), (.dailyCap, .limit, 403),
      (.callCap, .limit, 403), (.durationCap, .limit, 403), (.hourlyCap, .limit, 403),
      (.noProfitableRoute, .noRoute, 503),
      (.billingUnavailable, .billing, 503),
      (.currencyMismatch, .currency, 500),
    ]
    #expect(expected.map(\.0) == CallRefusal.allCases)
    for (refusal, code, status) in expected {
      let failure = CallFailure(refusal, correlationID: "c-1")
      #expect(failure.code == code)
      #expect(failure.sipStatus == status)
      #expect(failure.domain == .gateway)
      #expect(failure.refusal == refusal)
      #expect(code.details.refusals.contains(refusal))
      #expect(failure.reasons.first?.text == (code == .limit ? refusal.rawValue : nil))
      #expect(failure.cause == (code == .limit ? 21 : nil))
      #expect(failure.retryAfterSeconds == (refusal == .billingUnavailable ? 5 : nil))
      #expect(failure.description.contains(refusal.rawValue))
    }
    #expect(CallFailureCatalogue.rows.flatMap(\.refusals).count == CallRefusal.allCases.count)
  }

  @Test("texts from outside are cut and cleaned, counts are bounded")
  func bounds() {
    let long = String(repeating: "\u{F6}", count: 1000)
    let attempt = CallAttempt(
      trunk: long, startedAt: Instant(seconds: 0), endedAt: Instant(seconds: 1), sipStatus: 503, code: .congestion)
    #expect(attempt.trunk.utf8.count == CallFailure.maximumTextBytes)
    let attempts = (0..<100).map {
      CallAttempt(
        trunk: "t\($0)", startedAt: Instant(seconds: 0), endedAt: Instant(seconds: 1), sipStatus: nil, code: .transport)
    }
    let evidence = CallFailureEvidence(
      status: 503, phrase: "a\r\nb\u{0}\u{85}" + long,
      reasons: (0..<100).map { CallFailure.Reason(protocolName: "Q.850", cause: $0) }, retryAfterSeconds: -5)
    let failure = CallFailure(evidence, warning: "w\u{1B}", trunk: "t\n", attempts: attempts, correlationID: "c")
    #expect(failure.phrase?.hasPrefix("a??b??\u{F6}") == true)
    #expect(failure.phrase?.utf8.count ?? 0 <= CallFailure.maximumTextBytes)
    #expect(failure.warning == "w?")
    #expect(failure.trunk == "t?")
    #expect(failure.reasons.count == CallFailure.maximumReasons)
    #expect(failure.attempts.map(\.trunk) == (84..<100).map { "t\($0)" })
    #expect(failure.retryAfterSeconds == 0)
    #expect(failure.leg == .trunk)
  }

  @Test("a cause out of its protocol's range is dropped")
  func reasonRanges() {
    let cases: [(String, Int?, Int?)] = [
      ("Q.850", 0, 0), ("q.850", 127, 127), ("Q.850", 128, nil), ("Q.850", -1, nil), ("SIP", 603, 603),
      ("SIP", 1000, nil),
      ("STIR", 436, 436), ("X-Carrier", nil, nil),
    ]
    for (name, given, kept) in cases {
      #expect(CallFailure.Reason(protocolName: name, cause: given).cause == kept, "\(name) \(given ?? -1)")
    }
  }

  @Test("a call's states only grow")
  func states() {
    #expect(CallState.allCases == CallState.allCases.sorted())
    #expect(
      CallState.allCases.map(\.rawValue) == [
        "initiating", "progressing", "ringing", "answered", "established", "ended",
      ])
    #expect(
      CallEndCause.allCases.map(\.rawValue) == [
        "none", "timeout", "denied", "noAnswer", "error", "hungUp", "canceled", "otherDeviceAnswered",
        "transferred",
      ])
  }

  @Test(
    "every status and cause of the interworking tables has a class",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func interworking() throws {
    // The table's own words for a class and the codes that stand for them here.
    let classes: [String: Set<CallFailureCode>] = [
      "redirect": [.redirect], "protocol": [.request, .server, .global, .negotiation],
      "rejected or not authorised": [.declined, .blocked, .trunkAuth, .identity],
      "bad or unknown number": [.unallocated, .unreachable, .request], "media not acceptable": [.media],
      "no answer / not reachable": [.unreachable, .noAnswer], "caller identity (STIR)": [.identity], "busy": [.busy],
      "cancelled": [.cancelled], "server or network failure": [.congestion, .server],
    ]
    for row in try TestVectors.table("q850/sip-to-q850.tsv") {
      let status = try #require(row["sip_status"].flatMap { Int($0) })
      let allowed = try #require(classes[row["suggested_class"] ?? ""])
      #expect(allowed.contains(CallFailureCatalogue.code(forStatus: status)), "\(status)")
    }
    // A cause that decides a class decides the one its usual status has, where both are specific.
    for (cause, status) in [(1, 404), (17, 486), (28, 484), (34, 503), (38, 503), (41, 503), (42, 503), (65, 488)] {
      #expect(
        CallFailureCatalogue.code(forCause: cause) == CallFailureCatalogue.code(forStatus: status), "cause \(cause)")
    }
    #expect(CallFailureCatalogue.code(forCause: 21) == .declined)
    #expect(CallFailureCatalogue.code(forCause: 127) == nil)
  }
}
