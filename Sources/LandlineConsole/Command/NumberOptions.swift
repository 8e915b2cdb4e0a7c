package import CallModel

/// What `landline number set` says. What is `nil` stays as it is, or has its default where the number is new.
package struct NumberOptions: Sendable {
  /// Where calls lead.
  package struct Target: Sendable {
    package var kind: Destination.Kind
    package var text: String

    package init(_ kind: Destination.Kind, _ text: String) {
      self.kind = kind
      self.text = text
    }
  }

  package var number: String
  package var targets: [Target] = []
  /// Of every target.
  package var ring: String?
  package var application: String?
  package var account: String?
  package var isActive: Bool?
  package var noAnswer: Int?
  /// A number, or any.
  package var channels: String?
  package var answersFirst: Bool?
  package var refusesAnonymous: Bool?
  /// Numbers and beginnings of numbers, or none.
  package var blocked: [String] = []
  /// A format of recordings, or off.
  package var record: String?
  package var announcesRecording: Bool?
  package var hasRecordingTone: Bool?

  package init(number: String) { self.number = number }

  /// Targets of four options in the order in which they were typed.
  /// - Parameter words: the command line.
  package static func targets(
    users: [String], phones: [String], addresses: [String], conferences: [String], typed words: [String]
  ) -> [Target] {
    var left: [(option: String, kind: Destination.Kind, texts: [String])] = [
      ("--user", .user, users), ("--phone", .phone, phones), ("--sip", .sip, addresses),
      ("--conference", .conference, conferences),
    ]
    var targets: [Target] = []
    for word in words {
      let name = word.prefix { $0 != "=" }
      guard let place = left.firstIndex(where: { $0.option == name }), !left[place].texts.isEmpty else { continue }
      targets.append(Target(left[place].kind, left[place].texts.removeFirst()))
    }
    return targets + left.flatMap { entry in entry.texts.map { Target(entry.kind, $0) } }
  }
}
