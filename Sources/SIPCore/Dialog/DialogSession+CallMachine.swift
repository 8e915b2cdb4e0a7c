extension DialogSession: CallMachine {
  /// Whether BYE is through with, one way or the other.
  package var isFinished: Bool {
    if case .ended = life { return true }
    return false
  }

  package func receive(lateSuccess response: SIPMessage, from path: SIPPath) { repeatedSuccess(response) }

  package func handle(_ command: UserAgentCommand) {
    switch command {
    case .hangUp(_, let hangUp): self.hangUp(hangUp)
    case .offer(_, let exchange, let body): offer(exchange, body)
    case .sendInfo(_, let body): sendInfo(body)
    case .transfer(_, let target): transfer(to: target)
    case .acceptTransfer: acceptTransfer()
    case .refuseTransfer(_, let status): refuseTransfer(status: status)
    case .reportTransfer(_, let status): reportTransfer(status: status)
    case .allowTransfers: settings.allowsTransfer = true
    // Of calls that are not up, or of none: crossed the answer.
    case .placeCall, .release, .ring, .accept, .reject, .answer, .refuse, .ping, .register, .unregister, .phones,
      .located:
      break
    }
  }
}
