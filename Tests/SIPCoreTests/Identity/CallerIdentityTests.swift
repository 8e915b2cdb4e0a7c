import CallModel
import SIPCore
import TestVectors
import Testing

/// What trunks are told, and what incoming calls say.
@Suite struct CallerIdentityTests {
  let number: E164Number

  init() throws { number = try E164Number("+46701234567") }

  static let domain = SIPHost.name("trunk.example")

  /// A policy, then From, P-Asserted-Identity, P-Preferred-Identity and Privacy as they go out.
  @Test(arguments: [
    (
      CallerIdentityPolicy(domain: domain), false, "\"Anna\" <sip:+46701234567@trunk.example>",
      "\"Anna\" <sip:+46701234567@trunk.example>", "", ""
    ),
    (
      CallerIdentityPolicy(domain: domain, sendsDisplayName: false, assertion: .none), false,
      "<sip:+46701234567@trunk.example>", "", "", ""
    ),
    (
      CallerIdentityPolicy(
        fromUser: .fixed("account7"), domain: domain, sendsDisplayName: false, form: .both, callerFormat: .digits),
      false, "<sip:account7@trunk.example>", "<sip:46701234567@trunk.example>, <tel:+46701234567>", "", ""
    ),
    (
      CallerIdentityPolicy(domain: domain, sendsDisplayName: false, assertion: .preferred, form: .tel), false,
      "<sip:+46701234567@trunk.example>", "", "<tel:+46701234567>", ""
    ),
    (
      CallerIdentityPolicy(domain: domain), true, "\"Anonymous\" <sip:anonymous@anonymous.invalid>", "", "", "id"
    ),
    (
      CallerIdentityPolicy(domain: domain, isTrusted: true), true,
      "\"Anonymous\" <sip:anonymous@anonymous.invalid>", "<sip:+46701234567@trunk.example>", "", "id"
    ),
    (
      CallerIdentityPolicy(fromUser: .fixed("account7"), domain: domain, assertion: .preferred), true,
      "\"Anonymous\" <sip:anonymous@anonymous.invalid>", "", "", "id"
    ),
  ])
  func `what a trunk is told`(
    _ policy: CallerIdentityPolicy, _ isWithheld: Bool, _ from: String, _ asserted: String, _ preferred: String,
    _ privacy: String
  ) throws {
    let identity = try policy.identity(of: number, displayName: "Anna", isWithheld: isWithheld)
    #expect(try identity.from.encoded() == from)
    #expect(try identity.asserted.map { try $0.encoded() }.joined(separator: ", ") == asserted)
    #expect(try identity.preferred?.encoded() ?? "" == preferred)
    #expect(identity.privacy.joined(separator: ";") == privacy)
  }

  @Test func `a number of somebody else is refused`() throws {
    var policy = CallerIdentityPolicy(domain: Self.domain)
    policy.ownedNumbers = [try E164Number("+46701234568")]
    let error = #expect(throws: InvalidValue.self) { try policy.identity(of: self.number) }
    #expect(error?.rule == "caller.owned")
    policy.ownedNumbers = [number]
    #expect(try policy.identity(of: number).from.uri.user == "+46701234567")
  }

  @Test func `how the called number is written`() throws {
    let table: [(DialFormat, String)] = [
      (.international, "+46701234567"), (.digits, "46701234567"),
      (try DialFormat(prefix: "1234#", keepsPlus: false), "1234%2346701234567"),
      (try DialFormat(prefix: "00", keepsPlus: false), "0046701234567"),
      (try DialFormat(prefix: "*9", keepsPlus: true), "*9+46701234567"),
    ]
    for (format, user) in table {
      let policy = CallerIdentityPolicy(domain: Self.domain, dialFormat: format)
      #expect(try policy.target(number, host: Self.domain).encoded() == "sip:\(user)@trunk.example")
    }
    for prefix in ["a", "1 2", "1@", "12345678901234567"] {
      #expect(throws: InvalidValue.self, "\(prefix)") { try DialFormat(prefix: prefix, keepsPlus: true) }
    }
  }

  /// An INVITE with this From and these other fields.
  private func caller(
    _ from: String, _ fields: [(String, String)] = [], isTrusted: Bool = true
  ) throws -> PresentedCaller {
    let from = try NameAddress(parsing: from)
    let target = SIPURI(scheme: .sip, user: "4670", host: Self.domain)
    return try PresentedCaller(
      SIPMessage(
        startLine: .request(.invite, target), vias: [], from: from, to: NameAddress(target), callID: "1",
        cseq: CSeq(1, .invite), contacts: [], routes: [], recordRoutes: [],
        fields: fields.map { SIPMessage.Field(name: $0.0, value: $0.1) }, body: nil), isTrusted: isTrusted)
  }

  private static let anna = "\"Anna\" <sip:+46701234567@x>;tag=1"
  private static let asserted = ("P-Asserted-Identity", "<sip:+46707654321@trunk>")

  @Test func `what an incoming call says`() throws {
    struct Row {
      let name: String
      let from: String
      var fields: [(String, String)] = []
      var isTrusted = true
      var user: String?
      var network: String?
      var redirected: String?
      var isAnonymous = false
    }
    let anna = Self.anna
    let asserted = Self.asserted
    let table: [Row] = [
      Row(name: "plain", from: anna, user: "+46701234567"),
      Row(name: "no trust", from: anna, fields: [asserted], isTrusted: false, user: "+46701234567"),
      Row(name: "separators", from: "<sip:+46-70.123(45)67@x>", user: "+46701234567"),
      Row(name: "a name", from: "<sip:anna.b-c@x>", user: "anna.b-c"),
      Row(name: "tel", from: "<tel:+46-701234567;phone-context=+46>", user: "+46701234567"),
      Row(
        name: "anonymous host", from: "<sip:a@anonymous.invalid>", fields: [asserted], network: "+46707654321",
        isAnonymous: true),
      Row(name: "anonymous user", from: "<sip:Anonymous@x>", isAnonymous: true),
      Row(
        name: "tel after a name", from: anna,
        fields: [("P-Asserted-Identity", "<sip:anna@x>"), ("P-Asserted-Identity", "<tel:+46707654321>")],
        user: "+46701234567", network: "+46707654321"),
      Row(name: "unreadable PAI", from: anna, fields: [("P-Asserted-Identity", "<<>")], user: "+46701234567"),
      Row(name: "user", from: anna, fields: [("Privacy", "user")], isAnonymous: true),
      Row(name: "header, upper case", from: anna, fields: [("Privacy", "Header, Session")], isAnonymous: true),
      Row(name: "session alone", from: anna, fields: [("Privacy", "session")], user: "+46701234567"),
      Row(name: "unknown kind, not critical", from: anna, fields: [("Privacy", "glamour")], user: "+46701234567"),
      Row(
        name: "no trust, privacy", from: anna, fields: [("Privacy", "id"), asserted], isTrusted: false,
        isAnonymous: true),
      Row(
        name: "no trust, Diversion", from: anna, fields: [("Diversion", "<sip:+46700000001@x>")], isTrusted: false,
        user: "+46701234567"),
      Row(
        name: "History-Info without a reason", from: anna,
        fields: [("History-Info", "<sip:+46700000001@x>;index=1"), ("History-Info", "<sip:+46700000002@x>;index=1.1")],
        user: "+46701234567", redirected: "+46700000001"),
      Row(
        name: "a private History-Info", from: anna,
        fields: [("History-Info", "<sip:+46700000001@x?Privacy=history>;index=1, <sip:b@x>;index=1.1")],
        user: "+46701234567"),
    ]
    for row in table {
      let caller = try caller(row.from, row.fields, isTrusted: row.isTrusted)
      #expect(caller.presented?.uri.user == row.user, "\(row.name)")
      #expect(caller.network?.uri.user == row.network, "\(row.name)")
      #expect(caller.redirectedFrom?.uri.user == row.redirected, "\(row.name)")
      #expect(caller.isAnonymous == row.isAnonymous, "\(row.name)")
    }
    let error = #expect(throws: InvalidValue.self) { try self.caller(anna, [("Privacy", "glamour;critical")]) }
    #expect(error?.rule == "privacy.critical")
  }

  /// The list of behaviours, each row by its name.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func `each row of the list`() throws {
    var count = 0
    for row in try TestVectors.table("sip-rules/caller-identity.tsv") {
      count += 1
      let name = try #require(row["case"])
      switch name {
      case "p01":
        let caller = try caller(Self.anna)
        #expect(caller.presented?.displayName == "Anna" && caller.presented?.uri.user == "+46701234567")
        #expect(caller.presented?.tag == nil && caller.network == nil)
      case "p02":
        let caller = try caller(Self.anna, [Self.asserted])
        #expect(caller.presented?.uri.user == "+46701234567" && caller.network?.uri.user == "+46707654321")
      case "p04":
        let both = "<sip:+46707654321@trunk>, <tel:+46707654321>"
        #expect(try caller(Self.anna, [("P-Asserted-Identity", both)]).network?.uri.user == "+46707654321")
      case "p06":
        let caller = try caller(Self.anna, [("Privacy", "id"), Self.asserted])
        #expect(caller.isAnonymous && caller.presented == nil && caller.network?.uri.user == "+46707654321")
      case "p07":
        let caller = try caller(Self.anna, [("Privacy", "none"), Self.asserted])
        #expect(!caller.isAnonymous && caller.presented?.uri.user == "+46701234567")
      case "p08": #expect(try caller(Self.anna, [("Privacy", "header;user;critical")]).isAnonymous)
      case "p12":
        #expect(try caller("<sip:+46701234567;phone-context=+46@x>").presented?.uri.user == "+46701234567")
      case "p15": #expect(try caller(Self.anna, [("P-Preferred-Identity", "<sip:+1@x>")]).network == nil)
      case "p16":
        let diversion = "<sip:+46700000001@x>;reason=user-busy;counter=1"
        #expect(try caller(Self.anna, [("Diversion", diversion)]).redirectedFrom?.uri.user == "+46700000001")
      case "p17":
        let history =
          "<sip:+46700000001@x?Reason=SIP%3Bcause%3D302>;index=1, <sip:+46700000002@x>;index=1.1"
        #expect(try caller(Self.anna, [("History-Info", history)]).redirectedFrom?.uri.user == "+46700000001")
      case "p18":
        let policy = CallerIdentityPolicy(domain: Self.domain, ownedNumbers: [])
        #expect(throws: InvalidValue.self) { try policy.identity(of: self.number) }
      case "p20":
        let name = "Å \"Nils\", \\ Öberg"
        let sent = try CallerIdentityPolicy(domain: Self.domain).identity(of: number, displayName: name)
        #expect(try caller(try sent.from.encoded()).presented?.displayName == name)
      case "p22":
        let verified = "<sip:+46707654321;verstat=TN-Validation-Passed@trunk>"
        let phone = "<tel:+46707654321;verstat=TN-Validation-Passed>"
        for value in [verified, phone] {
          #expect(try caller(Self.anna, [("P-Asserted-Identity", value)]).network?.uri.user == "+46707654321")
        }
      default: Issue.record("a row that this test does not know: \(name)")
      }
    }
    #expect(count == 13)
  }
}
