import CallEngine
import CallModel

extension StoryTeller {
  /// One line for each INVITE to a trunk: as recorded, else as far as the messages tell.
  var attempts: [CallStory.Attempt] {
    let dialogs = trace?.dialogs ?? []
    guard let recorded = sources.record?.attempts, !recorded.isEmpty else {
      return dialogs.indices.filter { dialogs[$0].side == .far }.map(tracedAttempt)
    }
    var free = dialogs.indices.filter { dialogs[$0].side == .far }
    return recorded.map { attempt in
      // The same trunk may be tried twice: in the order of time.
      let index = free.first { dialogs[$0].trunk == attempt.trunk }
      free.removeAll { $0 == index }
      return CallStory.Attempt(
        trunk: attempt.trunk, milliseconds: max(0, attempt.endedAt.milliseconds(since: attempt.startedAt)),
        sipStatus: attempt.sipStatus, code: attempt.code?.rawValue, sipCallID: index.map { dialogs[$0].sipCallID })
    }
  }

  private func tracedAttempt(_ index: Int) -> CallStory.Attempt {
    let own = messages.filter { $0.message.dialog == index }
    // An answer stands, whatever is asked inside the call later.
    let finals = own.filter {
      !$0.message.isSent && $0.read.sequence?.method == "INVITE" && ($0.read.status ?? 0) >= 200
    }
    let last = finals.first { ($0.read.status ?? 0) < 300 } ?? finals.last
    let began = own.first?.message.at ?? 0
    let ended = last?.message.at ?? own.last?.message.at ?? began
    let status = last?.read.status
    let code = status.flatMap { $0 < 300 ? nil : evidence(last)?.code }
    return CallStory.Attempt(
      trunk: title(ofDialog: index), milliseconds: max(0, ended - began) / 1000, sipStatus: status,
      code: code?.rawValue, sipCallID: trace?.dialogs[index].sipCallID)
  }
}
