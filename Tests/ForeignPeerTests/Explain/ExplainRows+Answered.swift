import CallModel
import PeerKit

extension ExplainRow {
  private static let plain = "m=audio [media_port] RTP/AVP 0 101"

  /// SIPp answers with a description of the row's own.
  private static func answer(
    _ media: String, events: Bool = true, host: String = "[media_ip]", echoes: Bool = false
  ) -> ExplainTrunk {
    .sipp(
      "explain-answers",
      keys: ["media": media, "host": host, "attribute": events ? "rtpmap:101 telephone-event/8000" : "sendrecv"],
      echoes: echoes)
  }

  /// The trunk that answers and echoes, for rows whose matter is elsewhere.
  static let echo = "fine"

  static let answered: [ExplainRow] = [
    ExplainRow("fine", "SIPp", trunk: answer(plain, echoes: true)) { try await $0.talked("fine") },
    ExplainRow("transcoded", "SIPp", leads: false) { try await $0.talked("transcoded", at: echo) },
    ExplainRow("answeredOtherCodec", "SIPp", trunk: answer("m=audio [media_port] RTP/AVP 18")) {
      try await $0.ended("answeredOtherCodec")
    },
    ExplainRow(
      "answerKeyNotOffered", "SIPp",
      trunk: .sipp(
        "explain-answers",
        keys: [
          "media": "m=audio [media_port] RTP/SAVP 0", "host": "[media_ip]",
          "attribute": "crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz",
        ])
    ) { try await $0.ended("answerKeyNotOffered") },
    ExplainRow("answerRefusesSound", "SIPp", trunk: answer("m=audio 0 RTP/AVP 0")) {
      try await $0.ended("answerRefusesSound")
    },
    ExplainRow("brokenAnswer", "SIPp", trunk: .sipp("answer-without-contact")) { try await $0.ended("brokenAnswer") },

    ExplainRow("noSoundFromTrunk", "SIPp", trunk: answer(plain)) { try await $0.talked("noSoundFromTrunk") },
    ExplainRow("noSoundFromApp", "baresip", trunk: .init(peer: .baresip, lines: [])) {
      try await $0.talked("noSoundFromApp", sound: "silent")
    },
    ExplainRow("noSoundAtAll", "SIPp", trunk: answer(plain)) {
      try await $0.talked("noSoundAtAll", sound: "silent")
    },
    ExplainRow("soundNeverCame", "SIPp", trunk: answer(plain, echoes: true)) {
      try await $0.ended("soundNeverCame", ["sound": "silent"])
    },
    ExplainRow("soundDied", "SIPp", trunk: answer(plain, echoes: true)) { stage in
      let id = try await stage.placed("soundDied", ["sound": "talking"])
      try await stage.apps.told("soundDied", "established")
      try await stage.figures(id, after: 2)
      try stage.apps.peer.run("hush", ["call": "soundDied"])
      try await stage.apps.told("soundDied", "ended", within: 30)
      return .call(id)
    },
    ExplainRow("iceFailed", "aiortc, SIPp") { stage in
      let id = try await stage.placed("iceFailed", at: echo)
      try await stage.apps.told("iceFailed", "ended", within: 40)
      return .call(id)
    },
    ExplainRow("fingerprintMismatch", "aiortc, SIPp") { stage in
      let id = try await stage.placed(
        "fingerprintMismatch", at: echo, ["sound": "talking", "change": "fingerprint"])
      try await stage.apps.told("fingerprintMismatch", "ended", within: 40)
      return .call(id)
    },
    ExplainRow("handshakeFailed", "aiortc, SIPp") { stage in
      let id = try await stage.placed("handshakeFailed", at: echo, ["sound": "talking", "change": "profile"])
      try await stage.apps.told("handshakeFailed", "ended", within: 40)
      return .call(id)
    },
    ExplainRow("privateAddress", "SIPp", trunk: answer(plain, host: "10.9.8.7")) {
      try await $0.talked("privateAddress")
    },
    ExplainRow("appUplinkLoss", "aiortc, SIPp") { stage in
      try await stage.talked("appUplinkLoss", at: echo, for: 8) {
        try stage.apps.peer.run("impair", ["call": "appUplinkLoss", "loss": 0.2])
      }
    },
    ExplainRow("appDownlinkLoss", "aiortc, SIPp") { stage in
      try await stage.talked("appDownlinkLoss", at: echo, for: 10) {
        try stage.apps.peer.run("impair", ["call": "appDownlinkLoss", "deaf": 0.2])
      }
    },
    ExplainRow("latePackets", "aiortc, SIPp") { stage in
      try await stage.talked("latePackets", at: echo, for: 8) {
        try stage.apps.peer.run("impair", ["call": "latePackets", "late": 0.15])
      }
    },
    ExplainRow("jitter", "aiortc, SIPp") { stage in
      try await stage.talked("jitter", at: echo, for: 8) {
        try stage.apps.peer.run("impair", ["call": "jitter", "jitter": 160])
      }
    },
    ExplainRow("keysNotCarried", "SIPp", trunk: answer(plain, events: false, echoes: true)) { stage in
      try await stage.talked("keysNotCarried") {
        try stage.apps.peer.run("digits", ["call": "keysNotCarried", "digits": "15"])
      }
    },
    ExplainRow("heldByOther", "SIPp", leads: false, trunk: .sipp("gateway-holds", echoes: true)) { stage in
      try await stage.talked("heldByOther") {
        try await stage.apps.told("heldByOther", "held")
        try await stage.apps.told("heldByOther", "held")
      }
    },
  ]
}
