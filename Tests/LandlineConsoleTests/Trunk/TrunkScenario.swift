import PeerKit
import Testing

/// What a SIPp peer does with every request that comes: one scenario of it, as XML.
struct TrunkScenario: Sendable, CustomTestStringConvertible {
  let name: String
  let xml: String

  var testDescription: String { name }

  /// A SIPp that serves it on loopback, call after call.
  /// - Parameter echoes: whether it sends back the sound that comes.
  func serve(_ transport: SIPpPeer.Transport = .udp, echoes: Bool = false) async throws -> SIPpPeer {
    var options = SIPpPeer.Options()
    options.echoesMedia = echoes
    options.transport = transport
    options.calls = nil
    return try await SIPpPeer(named: name, xml, as: .server, options)
  }

  /// Header fields that every response copies.
  private static let copied = """
    [last_Via:]
    [last_From:]
    [last_To:];tag=[pid]SIPpTag[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    """

  private static func response(_ start: String, _ fields: String = "", body: String? = nil) -> String {
    let content =
      body.map { "Content-Type: application/sdp\nContent-Length: [len]\n\n\($0)" } ?? "Content-Length: 0\n\n"
    return """
      <send><![CDATA[
      SIP/2.0 \(start)
      \(copied)
      Contact: <sip:[local_ip]:[local_port];transport=[transport]>
      \(fields.isEmpty ? "Server: Test Peer" : "Server: Test Peer\n" + fields)
      \(content)
      ]]></send>
      """
  }

  static let description = """
    v=0
    o=peer 1 1 IN IP4 127.0.0.1
    s=-
    c=IN IP4 127.0.0.1
    t=0 0
    m=audio 40000 RTP/AVP 0 101
    a=rtpmap:0 PCMU/8000
    a=rtpmap:101 telephone-event/8000
    a=fmtp:101 0-15
    a=ptime:30
    a=sendrecv
    """

  private static let options = response("200 OK", "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS")

  /// OPTIONS get 200; INVITEs what `invite` says.
  private static func peer(_ name: String, options: String = options, action: String = "", invite: String)
    -> TrunkScenario
  {
    TrunkScenario(
      name: name,
      xml: """
        <?xml version="1.0" encoding="UTF-8"?>
        <scenario name="\(name)">
        <recv request="OPTIONS" optional="true" next="1"></recv>
        <recv request="REGISTER" optional="true" next="3"></recv>
        <recv request="INVITE">\(action)</recv>
        \(invite)
        <nop next="2"></nop>
        <label id="1"/>
        \(options)
        <nop next="2"></nop>
        <label id="3"/>
        \(register)
        <label id="2"/>
        <timewait milliseconds="1000"/>
        </scenario>
        """)
  }

  private static let taken = """
    <recv request="CANCEL"></recv>
    \(response("200 OK"))
    <send><![CDATA[
    SIP/2.0 487 Request Terminated
    [last_Via:]
    [last_From:]
    [last_To:];tag=[pid]SIPpTag[call_number]
    [last_Call-ID:]
    CSeq: 1 INVITE
    Content-Length: 0

    ]]></send>
    <recv request="ACK"></recv>
    """

  private static func challenged(_ method: String) -> String {
    response(
      "401 Unauthorized", #"WWW-Authenticate: Digest realm="carrier.example", nonce="6d3f", algorithm=MD5, qop="auth""#)
      + #"<recv request="\#(method)" auth="true"><action><verifyauth assign_to="good" username="1001" password="secret-word"/></action></recv>"#
      + #"<nop next="9" test="good"></nop>"#
      + response(
        "401 Unauthorized",
        #"WWW-Authenticate: Digest realm="carrier.example", nonce="7e40", algorithm=MD5, qop="auth""#)
      + #"<nop next="2"></nop><label id="9"/>"#
  }

  private static let register =
    response(
      "401 Unauthorized", #"WWW-Authenticate: Digest realm="carrier.example", nonce="6d3f", algorithm=MD5, qop="auth""#)
    + #"<recv request="REGISTER" auth="true"><action><verifyauth assign_to="good" username="1001" password="secret-word"/></action></recv>"#
    + #"<nop next="4" test="good"></nop>"#
    + response("403 Forbidden") + #"<nop next="2"></nop><label id="4"/>"#
    + registered("600") + #"<recv request="REGISTER"></recv>"# + registered("0")

  /// The registrar lists the binding that came.
  private static func registered(_ seconds: String) -> String {
    """
    <send><![CDATA[
    SIP/2.0 200 OK
    \(copied)
    [last_Contact:];expires=\(seconds)
    Content-Length: 0

    ]]></send>
    """
  }

  static let ringing = peer("rings", invite: response("180 Ringing") + taken)
  static let earlyMedia = peer("early media", invite: response("183 Session Progress", body: description) + taken)
  static let answering = peer("answers", invite: answered(description))
  /// The same with sound where it is asked to echo.
  static let speaking = peer(
    "answers and speaks", invite: answered(description.replacing("40000", with: "[media_port]")))
  /// Nothing but calls is answered.
  static let callsOnly = peer(
    "answers calls alone", options: "", invite: answered(description.replacing("40000", with: "[media_port]")))

  private static func answered(_ body: String) -> String {
    response("200 OK", body: body) + #"<recv request="ACK"></recv><recv request="BYE"></recv>"# + response("200 OK")
  }

  static let busy = peer(
    "busy",
    invite: response("486 Busy Here", "Reason: Q.850;cause=17;text=\"User busy\"") + #"<recv request="ACK"></recv>"#)
  static let noCodec = peer(
    "no codec",
    invite: response("488 Not Acceptable Here", "Warning: 305 peer \"Incompatible media format\"")
      + #"<recv request="ACK"></recv>"#)
  /// Calls are let in for one user in From only, as trunks do that know accounts.
  static let wantsAccount = peer(
    "wants the account in From",
    action: #"<action><ereg regexp="sip:1001@" search_in="hdr" header="From:" assign_to="good"/></action>"#,
    invite: #"<nop next="9" test="good"></nop>"# + response("403 Forbidden") + #"<recv request="ACK"></recv>"#
      + #"<nop next="2"></nop><label id="9"/>"# + response("180 Ringing") + taken)
  static let forbidding = peer("403 always", invite: response("403 Forbidden") + #"<recv request="ACK"></recv>"#)
  static let challenging = peer("challenges OPTIONS", options: challenged("OPTIONS") + options, invite: "")
  static let refusingOptions = peer("405 to OPTIONS", options: response("405 Method Not Allowed"), invite: "")
  static let overloaded = peer(
    "503 to OPTIONS", options: response("503 Service Unavailable", "Retry-After: 60"), invite: "")
}
