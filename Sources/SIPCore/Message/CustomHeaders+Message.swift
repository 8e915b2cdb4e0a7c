public import CallModel

extension CustomHeaders {
  /// The `x-` fields of a message in order, as many as the budget of ``CustomHeaders`` holds.
  /// - Parameter dropped: How many more there were that did not fit, came twice or cannot be passed on.
  public init(of message: SIPMessage, dropped: inout Int) {
    self.init()
    for field in message.fields {
      var name = field.name.utf8.makeIterator()
      guard name.next().map(MessageCharacter.lowercase) == UInt8(ascii: "x"), name.next() == UInt8(ascii: "-") else {
        continue
      }
      do throws(InvalidValue) {
        try append(name: field.name, value: field.value)
      } catch {
        dropped += 1
      }
    }
  }

  /// The `x-` fields of a message, without count of what did not fit.
  public init(of message: SIPMessage) {
    var dropped = 0
    self.init(of: message, dropped: &dropped)
  }
}
