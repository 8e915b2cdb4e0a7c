import CallEngine
import CallModel
import SDPCore

extension StoryTeller {
  /// Which codecs the sound goes through, and why these.
  var codecs: CallStory.CodecPath? {
    let near = codec(.near) ?? call?.nearCodec
    let far = codec(.far) ?? call?.farCodec
    let said = self.said
    guard near != nil || far != nil || !said.isEmpty else { return nil }
    let nearSide = Negotiated(said, side: .near)
    let farSide = Negotiated(said, side: .far)
    var reasons: [String] = []
    reasons += reasonsOfNearSide(nearSide, near)
    reasons += reasonsOfFarSide(farSide, near: near, far: far)
    let isTranscoded = near != nil && far != nil && !StoryTeller.isSame(near, far)
    if let near, let far {
      reasons.append(
        isTranscoded
          ? conversion(near, far, nearSide, farSide) : "Both ends share \(spoken(near)): it is passed untouched.")
    } else if let near, farSide.offer == nil, isAnsweredHere {
      reasons.append("The gateway itself speaks on this call, so \(spoken(near)) is the only codec.")
    }
    return CallStory.CodecPath(near: near, far: far, isTranscoded: isTranscoded, reasons: reasons)
  }

  /// The last offer of a side that was answered, and its answer; else the last offer.
  private struct Negotiated {
    var offer: Said?
    var answer: Said?

    init(_ said: [Said], side: LegID) {
      for one in said where one.story.side == side {
        if one.isOffer {
          offer = one
          answer = nil
        } else if let offer, offer.isFromGateway != one.isFromGateway, offer.dialog == one.dialog {
          answer = one
        }
      }
      if answer == nil {
        // A later offer that was never answered changed nothing.
        for (index, one) in said.enumerated().reversed() where one.story.side == side && !one.isOffer {
          let before = said[..<index].last {
            $0.story.side == side && $0.isOffer && $0.dialog == one.dialog && $0.isFromGateway != one.isFromGateway
          }
          guard let before else { continue }
          (offer, answer) = (before, one)
          break
        }
      }
    }
  }

  private func codec(_ side: LegID) -> String? { trace?.plans.last { $0.side == side }?.codec }

  /// Whether no second leg is looked for.
  private var isAnsweredHere: Bool {
    guard let call, call.kind == .phone, trace?.dialogs.isEmpty ?? true else { return false }
    return (try? E164Number(call.destination))?.testNumber != nil
  }

  private func reasonsOfNearSide(_ side: Negotiated, _ codec: String?) -> [String] {
    guard let offer = side.offer else { return [] }
    let who = offer.story.from == "app" ? "The app" : offer.isFromGateway ? "The gateway" : "\(offer.story.from)"
    let offered = StoryTeller.list(offer.codecs)
    guard let answer = side.answer else { return ["\(who) offered \(offered); no answer is known."] }
    let other = answer.isFromGateway ? "the gateway" : answer.story.from == "app" ? "the app" : answer.story.from
    return ["\(who) offered \(offered); \(other) took \(StoryTeller.list(answer.codecs))."]
  }

  private func reasonsOfFarSide(_ side: Negotiated, near: String?, far: String?) -> [String] {
    guard let offer = side.offer else { return [] }
    let name = otherEnd(offer, side.answer)
    var reasons: [String] = []
    if offer.isFromGateway {
      reasons.append("\(name) was offered \(StoryTeller.list(offer.codecs)), in this order.")
      if let facts = facts(offer), let near, !StoryTeller.contains(offer.codecs, near) {
        reasons.append(
          "\(spoken(near)) is not among the codecs that the configuration has for it (\(StoryTeller.list(facts.codecs))), "
            + "so it was not offered.")
      }
    } else {
      reasons.append("\(name) offered \(StoryTeller.list(offer.codecs)).")
    }
    guard let answer = side.answer else { return reasons + ["Its answer is not known."] }
    let taken = answer.codecs
    if answer.isFromGateway {
      reasons.append("The gateway answered with \(StoryTeller.list(taken)).")
      return reasons
    }
    let left = offer.codecs.filter { !StoryTeller.contains(taken, $0) }
    reasons.append(
      taken.count == 1
        ? "Its answer has \(spoken(taken[0])) only." : "Its answer has \(StoryTeller.list(taken)).")
    if !left.isEmpty, !taken.isEmpty {
      reasons.append("Offered to it but not answered: \(StoryTeller.list(left)).")
    }
    return reasons
  }

  /// Why the sound is turned from one codec into the other.
  private func conversion(_ near: String, _ far: String, _ nearSide: Negotiated, _ farSide: Negotiated) -> String {
    let result = "\(spoken(near)) from \(nearName) is turned into \(spoken(far)) and back."
    let offered = farSide.offer?.codecs ?? []
    let taken = farSide.answer?.codecs ?? []
    let nearOffered = nearSide.offer?.isFromGateway == false ? nearSide.offer?.codecs ?? [] : []
    let name = farSide.offer.map { otherEnd($0, farSide.answer) } ?? "The other side"
    if !offered.isEmpty, !StoryTeller.contains(offered, near) {
      return "\(name) was not offered \(spoken(near)), so \(result)"
    }
    if !taken.isEmpty, !StoryTeller.contains(taken, near) {
      return "\(name)'s answer has no \(spoken(near)), so \(result)"
    }
    if !nearOffered.isEmpty, !StoryTeller.contains(nearOffered, far) {
      return "The app did not offer \(spoken(far)), so \(result)"
    }
    return "The two ends agreed on different codecs, so \(result)"
  }

  private var nearName: String {
    (lanes.first { $0.id == StoryTeller.app } ?? lanes.first)?.title == "app" ? "the app" : "the first side"
  }

  private func otherEnd(_ offer: Said, _ answer: Said?) -> String {
    guard let dialog = offer.dialog ?? answer?.dialog else { return "The other side" }
    let isTrunk = trace.map { $0.dialogs.indices.contains(dialog) && $0.dialogs[dialog].trunk != nil } ?? false
    return (isTrunk ? "Trunk " : "") + PlainText.line(title(ofDialog: dialog))
  }

  private func facts(_ said: Said) -> CallStorySources.TrunkFacts? {
    guard let dialog = said.dialog, let dialogs = trace?.dialogs, dialogs.indices.contains(dialog),
      let trunk = dialogs[dialog].trunk
    else { return nil }
    return sources.trunks[trunk]
  }

  // MARK: Names

  private static func isSame(_ left: String?, _ right: String?) -> Bool { left?.lowercased() == right?.lowercased() }
  private static func contains(_ names: [String], _ name: String) -> Bool { names.contains { isSame($0, name) } }

  /// `Opus`, `G.711 A-law (PCMA)`.
  private func spoken(_ name: String) -> String {
    switch name.lowercased() {
    case "opus": "Opus"
    case "pcma": "G.711 A-law (PCMA)"
    case "pcmu": "G.711 \u{B5}-law (PCMU)"
    case "g722": "G.722"
    default: PlainText.line(TraceRedaction.cut(name, to: 32))
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty
      ? "no codec" : names.prefix(16).map { PlainText.line(TraceRedaction.cut($0, to: 32)) }.joined(separator: ", ")
  }
}
