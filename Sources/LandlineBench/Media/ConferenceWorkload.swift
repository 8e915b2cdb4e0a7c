/// What the conferences of one row of the benchmark are.
struct ConferenceWorkload: Hashable, Sendable {
  /// bit/s of Opus, each way at every mixer.
  static let bitRate = 32_000
  /// Number of the header extension that says how loud a packet is.
  static let levels = 5

  var rooms = 1
  /// In each room.
  var people: Int
  /// Of them.
  var speakers: Int
  /// Whether those who do not speak send their silence.
  var sendsSilence = true
  var codec = MediaWorkload.Codec.opus

  /// Hz at which a mixer works that has to be told.
  var samplingRate: Int { codec.isOpus ? 16_000 : 8_000 }
  var participants: Int { rooms * people }

  static let few = ConferenceWorkload(people: 20, speakers: 3)
  static let quiet = ConferenceWorkload(people: 20, speakers: 3, sendsSilence: false)
  static let large = ConferenceWorkload(people: 200, speakers: 3)
  static let many = ConferenceWorkload(rooms: 50, people: 4, speakers: 2)
  static let tones = ConferenceWorkload(people: 3, speakers: 2, codec: .pcmu)

  /// Participants that keep Janus well under one core.
  private static let anchorParticipants = 60

  /// The same with as many participants as the anchor carries.
  var forAnchor: ConferenceWorkload {
    var fewer = self
    if rooms > 1 {
      fewer.rooms = min(rooms, Self.anchorParticipants / people)
    } else {
      fewer.people = min(people, Self.anchorParticipants)
    }
    return fewer
  }
}
