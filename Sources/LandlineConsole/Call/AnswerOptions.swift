/// What `landline answer` was asked, as written.
package struct AnswerOptions: Sendable {
  /// What becomes of a call that comes in.
  package enum Deed: Sendable {
    case answer, decline, busy
  }

  package var app = AppOptions()
  package var deed = Deed.answer
  /// `2s`: how long a call rings before that; `nil`: not at all.
  package var ring: String?
  /// `10s`: how long a call is held from its answer on; `nil`: until the other side ends it.
  package var duration: String?
  /// `name: value`, told to whoever calls with the answer.
  package var headers: [String] = []
  /// A WAV file to be heard by whoever calls.
  package var play: String?
  package var playsForever = false
  /// A WAV file to be made of the first call, and `FILE-2`, `FILE-3` of those after it.
  package var record: String?
  /// After so many calls the command ends; `nil`: with an interrupt.
  package var calls: Int?

  package init() {}
}
