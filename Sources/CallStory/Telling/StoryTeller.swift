import CallEngine
import CallModel

/// Everything that a story is told from, read once.
struct StoryTeller {
  /// A message with what stands in it.
  struct Seen {
    let message: CallTrace.Message
    let read: TracedMessage
  }

  let sources: CallStorySources
  /// The call as it stands or stood last.
  let call: CallSnapshot?
  let trace: CallTrace?
  /// By time.
  let messages: [Seen]
  let lanes: [CallStory.Lane]
  /// The lane of each dialog, by its place in the trace.
  private let dialogLanes: [String]

  init(_ sources: CallStorySources) {
    self.sources = sources
    call = sources.record?.call ?? sources.live
    trace = sources.trace
    let unordered = (trace?.messages ?? []).enumerated().sorted {
      ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
    }
    messages = unordered.map { Seen(message: $0.element, read: TracedMessage($0.element.text)) }
    (lanes, dialogLanes) = StoryTeller.lanes(trace, call, messages)
  }

  // MARK: Lanes

  static let app = "app"
  static let gateway = "gateway"
  static let far = "far"

  private static func lanes(
    _ trace: CallTrace?, _ call: CallSnapshot?, _ messages: [Seen]
  ) -> (lanes: [CallStory.Lane], dialogs: [String]) {
    let dialogs = trace?.dialogs ?? []
    var ids: [String] = []
    var near: [CallStory.Lane] = []
    var far: [CallStory.Lane] = []
    for (index, dialog) in dialogs.enumerated() {
      let first = messages.first { $0.message.dialog == index }
      let address = first.map { "\($0.message.remote) \($0.message.transport.uppercased())" } ?? ""
      let title = dialog.trunk ?? first.flatMap { host(of: $0.read) } ?? "SIP"
      switch dialog.side {
      case .near:
        let id = "near\(near.count + 1)"
        near.append(CallStory.Lane(id: id, title: title, detail: address))
        ids.append(id)
      default:
        let id = "far\(far.count + 1)"
        far.append(CallStory.Lane(id: id, title: title, detail: address))
        ids.append(id)
      }
    }
    if near.isEmpty || trace?.lines.contains(where: { $0.device == nil }) ?? false {
      let detail = [call?.application, call?.user.map { "\($0)" }].compactMap { $0 }.joined(separator: ", ")
      near.insert(CallStory.Lane(id: app, title: "app", detail: detail), at: 0)
    }
    if far.isEmpty, let call, call.kind == .user || call.kind == .conference || call.from != nil {
      far.append(CallStory.Lane(id: StoryTeller.far, title: call.destination, detail: call.kind.rawValue))
    }
    let middle = CallStory.Lane(id: gateway, title: "gateway", detail: call?.environment ?? "")
    return (near + [middle] + far, ids)
  }

  private static func host(of message: TracedMessage) -> String? {
    guard case .request(_, let uri) = message.start else { return nil }
    let rest = uri.drop { $0 != ":" }.dropFirst()
    let host = (rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest).prefix {
      $0 != ";" && $0 != "?"
    }
    return host.isEmpty ? nil : String(host)
  }

  func lane(ofDialog index: Int) -> String {
    dialogLanes.indices.contains(index) ? dialogLanes[index] : StoryTeller.gateway
  }

  /// The lane that stands for a side at a time: of several attempts the last one begun.
  func lane(of side: LegID, at time: Int64) -> String {
    let latest = messages.last { $0.message.at <= time && dialog(of: $0)?.side == side }
    if let latest { return lane(ofDialog: latest.message.dialog) }
    switch side {
    case .near: return lanes.first { $0.id != StoryTeller.gateway }?.id ?? StoryTeller.gateway
    default: return lanes.last?.id ?? StoryTeller.gateway
    }
  }

  func dialog(of seen: Seen) -> CallTrace.Dialog? {
    guard let dialogs = trace?.dialogs, dialogs.indices.contains(seen.message.dialog) else { return nil }
    return dialogs[seen.message.dialog]
  }

  /// Who stands at the other end of a dialog.
  func title(ofDialog index: Int) -> String {
    let id = lane(ofDialog: index)
    return lanes.first { $0.id == id }?.title ?? "SIP"
  }
}
