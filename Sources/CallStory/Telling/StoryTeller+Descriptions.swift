import CallModel
import SDPCore

extension StoryTeller {
  /// A description with where it was said.
  struct Said {
    /// Place of the dialog; `nil` for the app.
    let dialog: Int?
    let isFromGateway: Bool
    var story: CallStory.Description
    let read: SessionDescription?

    var isOffer: Bool { story.role == "offer" }

    /// Names of the codecs of the first sound that is not refused; without keys pressed and other things.
    var codecs: [String] {
      guard let audio = read?.sections.first(where: { $0.isAudio && $0.port != 0 }) else { return [] }
      return StoryTeller.codecNames(audio)
    }
  }

  var descriptions: [CallStory.Description] { said.map(\.story) }

  /// Offers and answers of all legs by time; what is said again word for word is told once.
  var said: [Said] {
    var result = appDescriptions()
    for index in trace?.dialogs.indices ?? 0..<0 { result += descriptions(ofDialog: index) }
    return result.enumerated().sorted {
      ($0.element.story.microseconds, $0.offset) < ($1.element.story.microseconds, $1.offset)
    }.map(\.element)
  }

  /// What apps bring with `call`, `alert`, `accept` and `offer` is an offer, as is an `offer` of the gateway; the rest are
  /// answers.
  private func appDescriptions() -> [Said] {
    (trace?.lines ?? []).compactMap { line in
      guard let text = line.description, !text.isEmpty else { return nil }
      let isOffer = ["call", "offer", "alert", "accept"].contains(line.type)
      return said(
        text, side: line.device == nil ? .near : .far, dialog: nil, role: isOffer ? "offer" : "answer",
        from: line.isFromApp ? line.device ?? "app" : StoryTeller.gateway, isFromGateway: !line.isFromApp, at: line.at)
    }
  }

  /// RFC 3264 as SIP carries it: a request's description is an offer, also of a response whose request had none; what
  /// the other one then says of that transaction is the answer.
  private func descriptions(ofDialog index: Int) -> [Said] {
    struct Transaction: Hashable {
      let number: Int
      let method: String
      let isFromGateway: Bool
    }
    var offered: Set<Transaction> = []
    var result: [Said] = []
    var last: [Bool: String] = [:]
    for seen in messages where seen.message.dialog == index {
      guard let text = seen.read.sessionDescription, let sequence = seen.read.sequence else { continue }
      let isSent = seen.message.isSent
      let isOffer: Bool
      if seen.read.isRequest {
        isOffer = sequence.method != "ACK"
        offered.insert(Transaction(number: sequence.number, method: sequence.method, isFromGateway: isSent))
      } else {
        let request = Transaction(number: sequence.number, method: sequence.method, isFromGateway: !isSent)
        isOffer = !offered.contains(request)
      }
      // The same again, in a 183 and a 200 or in a message that was repeated.
      guard last[isSent] != text || seen.read.isRequest && !seen.message.isRepeated else { continue }
      last[isSent] = text
      guard let side = dialog(of: seen)?.side else { continue }
      result.append(
        said(
          text, side: side, dialog: index, role: isOffer ? "offer" : "answer",
          from: isSent ? StoryTeller.gateway : title(ofDialog: index), isFromGateway: isSent, at: seen.message.at))
    }
    return result
  }

  private func said(
    _ text: String, side: LegID, dialog: Int?, role: String, from: String, isFromGateway: Bool, at: Int64
  ) -> Said {
    var read: SessionDescription?
    let summary: String
    do throws(InvalidSessionDescription) {
      let description = try SessionDescription(parsing: text)
      read = description
      summary = StoryTeller.summary(description)
    } catch {
      summary = "cannot be read: line \(error.line), \(error.problem)"
    }
    return Said(
      dialog: dialog, isFromGateway: isFromGateway,
      story: CallStory.Description(
        side: side, role: role, from: from, microseconds: at, text: text, summary: PlainText.line(summary)),
      read: read)
  }

  // MARK: Summaries

  /// `opus/48000, PCMU, PCMA, telephone-event · DTLS-SRTP`, for several sections one after the other.
  static func summary(_ description: SessionDescription) -> String {
    let sections = description.sections.prefix(8).map { summary($0) }
    return sections.isEmpty ? "no media" : sections.joined(separator: "; ")
  }

  private static func summary(_ section: MediaSection) -> String {
    let kind = section.isAudio ? "" : "\(section.kind): "
    guard section.port != 0 || section.isBundleOnly else { return "\(kind.isEmpty ? "audio: " : kind)refused" }
    let formats = section.formats.prefix(32).map { format in
      guard let encoding = format.encoding else { return format.token }
      return encoding.name + (encoding.clockRate.map { $0 == 8000 ? "" : "/\($0)" } ?? "")
    }
    var parts = [kind + (formats.isEmpty ? "no format" : formats.joined(separator: ", ")), security(section)]
    if section.direction != .sendAndReceive { parts.append(section.direction.rawValue) }
    if let time = section.packetTime { parts.append("\(time / 1000) ms") }
    if section.iceUserFragment != nil { parts.append("ICE") }
    return parts.joined(separator: " · ")
  }

  static func security(_ section: MediaSection) -> String {
    guard let profile = section.profile else { return "unknown profile" }
    if profile.isDTLS { return "DTLS-SRTP" }
    if profile.isSecure { return "SDES" }
    return section.crypto.isEmpty ? "RTP" : "RTP or SDES"
  }

  static func codecNames(_ section: MediaSection) -> [String] {
    let others: Set<String> = ["telephone-event", "cn", "red", "rtx", "ulpfec"]
    var names: [String] = []
    for format in section.formats.prefix(32) {
      guard let name = format.encoding?.name, !others.contains(name.lowercased()) else { continue }
      let known = AudioCodec.allCases.first { $0.rawValue.lowercased() == name.lowercased() }?.rawValue ?? name
      if !names.contains(known) { names.append(known) }
    }
    return names
  }
}
