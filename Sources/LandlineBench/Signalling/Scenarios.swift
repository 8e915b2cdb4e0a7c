/// The parts that SIPp and Kamailio play.
enum Scenarios {
  /// Answers every call at once; ends when the caller hangs up.
  static let callee = """
    <?xml version="1.0" encoding="UTF-8" ?>
    <scenario name="answering callee">
      <recv request="INVITE" rrs="true"/>
      <send><![CDATA[
    SIP/2.0 100 Trying
    [last_Via:]
    [last_From:]
    [last_To:]
    [last_Call-ID:]
    [last_CSeq:]
    Content-Length: 0

      ]]></send>
      <send><![CDATA[
    SIP/2.0 180 Ringing
    [last_Via:]
    [last_Record-Route:]
    [last_From:]
    [last_To:];tag=callee[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    Contact: <sip:callee@[local_ip]:[local_port]>
    Content-Length: 0

      ]]></send>
      <send retrans="500"><![CDATA[
    SIP/2.0 200 OK
    [last_Via:]
    [last_Record-Route:]
    [last_From:]
    [last_To:];tag=callee[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    Contact: <sip:callee@[local_ip]:[local_port]>
    Content-Type: application/sdp
    Content-Length: [len]

    v=0
    o=- 1 1 IN IP4 127.0.0.1
    s=-
    c=IN IP4 127.0.0.1
    t=0 0
    m=audio 7001 RTP/AVP 0
    a=rtpmap:0 PCMU/8000
    a=ptime:20
      ]]></send>
      <recv request="ACK" rrs="true"/>
      <recv request="BYE"/>
      <send><![CDATA[
    SIP/2.0 200 OK
    [last_Via:]
    [last_From:]
    [last_To:]
    [last_Call-ID:]
    [last_CSeq:]
    Content-Length: 0

      ]]></send>
    </scenario>
    """

  /// The same call that ``CallLoad`` places, for the relay's sake.
  static let caller = """
    <?xml version="1.0" encoding="UTF-8" ?>
    <scenario name="caller">
      <send retrans="500"><![CDATA[
    INVITE sip:+46700000000@[remote_ip]:[remote_port] SIP/2.0
    Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch];rport
    Max-Forwards: 70
    From: <sip:+46701234567@[local_ip]>;tag=caller[call_number]
    To: <sip:+46700000000@[remote_ip]:[remote_port]>
    Call-ID: [call_id]
    CSeq: 1 INVITE
    Contact: <sip:caller@[local_ip]:[local_port]>
    Content-Type: application/sdp
    Content-Length: [len]

    v=0
    o=- 1 1 IN IP4 127.0.0.1
    s=-
    c=IN IP4 127.0.0.1
    t=0 0
    m=audio 7000 RTP/AVP 0
    a=rtpmap:0 PCMU/8000
    a=ptime:20
      ]]></send>
      <recv response="100" optional="true"/>
      <recv response="180" optional="true"/>
      <recv response="200" rrs="true"/>
      <send><![CDATA[
    ACK [next_url] SIP/2.0
    Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch];rport
    [routes]
    Max-Forwards: 70
    From: <sip:+46701234567@[local_ip]>;tag=caller[call_number]
    [last_To:]
    Call-ID: [call_id]
    CSeq: 1 ACK
    Content-Length: 0

      ]]></send>
      <send retrans="500"><![CDATA[
    BYE [next_url] SIP/2.0
    Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch];rport
    [routes]
    Max-Forwards: 70
    From: <sip:+46701234567@[local_ip]>;tag=caller[call_number]
    [last_To:]
    Call-ID: [call_id]
    CSeq: 2 BYE
    Content-Length: 0

      ]]></send>
      <recv response="200"/>
    </scenario>
    """

  /// A stateful relay that stays in the way of a call's later requests.
  static func relay(listen port: UInt16, callee: UInt16) -> String {
    """
    #!KAMAILIO
    debug=-1
    log_stderror=yes
    fork=yes
    children=2
    auto_aliases=no
    listen=udp:127.0.0.1:\(port)
    mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/:/usr/lib/aarch64-linux-gnu/kamailio/modules/"
    loadmodule "tm.so"
    loadmodule "sl.so"
    loadmodule "rr.so"
    loadmodule "pv.so"
    loadmodule "maxfwd.so"
    loadmodule "siputils.so"
    request_route {
      if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
      if (has_totag()) { loose_route(); t_relay(); exit; }
      t_check_trans();
      record_route();
      $du = "sip:127.0.0.1:\(callee)";
      t_relay();
    }
    """
  }
}
