import CallModel
import LandlineClient

/// Whom `landline call` calls, read from the many ways to write it.
enum CallTarget: Hashable {
  case phone(String)
  case sip(String)
  case user(String)
  case conference(String)

  /// - Throws: ``ConsoleError`` where the text is none of the forms; what stands behind the form is the client's to judge.
  init(_ text: String) throws(ConsoleError) {
    func rest(_ prefix: String) -> String? {
      text.lowercased().hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
    if rest("tel:") != nil {
      // The parameters of a telephone URI (RFC 3966) are not the number's.
      self = .phone(try CallTarget.number(String(text.prefix { $0 != ";" })))
    } else if rest("sip:") != nil || rest("sips:") != nil {
      self = .sip(text)
    } else if let user = rest("user:") {
      self = .user(user)
    } else if let room = rest("conf:") {
      self = .conference(room)
    } else if text.contains("@") {
      self = .sip(text)
    } else if text.contains(where: \.isNumber), !text.contains(where: \.isLetter) {
      self = .phone(try CallTarget.number(text))
    } else if text.first?.isLetter ?? false, !text.contains(":"), (try? UserID(text)) != nil {
      self = .user(text)
    } else {
      throw ConsoleError.usage(
        "target.form", "target: it is no number, address, user or conference", at: "TARGET",
        fix: "+46701234567, sip:alice@example.com, user:alice or conf:room")
    }
  }

  /// As requests name somebody who can be called into a call or a conference.
  /// - Parameter refusal: Why a conference cannot be meant.
  func person(_ refusal: String) throws(ConsoleError) -> (kind: String, target: String) {
    switch self {
    case .phone(let number): ("phone", number)
    case .sip(let address): ("sip", address)
    case .user(let user): ("user", user)
    case .conference:
      throw ConsoleError.usage(
        "target.form", refusal, at: "TARGET", fix: "+46701234567, sip:alice@example.com or user:alice")
    }
  }

  /// What is called when a text is dialled.
  private static func number(_ text: String) throws(ConsoleError) -> String {
    guard text.utf8.count <= TypedNumber.maximumBytes else {
      throw ConsoleError.usage("number.long", "number: too long", at: "TARGET", fix: TypedNumber.accepted)
    }
    switch TypedNumber(text) {
    case .number(let number): return "\(number)"
    case .emergency(let number): return number.code
    case .problem(let message, let accepted, let position):
      throw ConsoleError.usage(
        "number", "number: \(message)", at: "TARGET" + (position.map { ", character \($0 + 1)" } ?? ""), fix: accepted)
    }
  }

  /// What the gateway itself sends, where it is the other side; `nil` for any other.
  var ownSound: String? {
    switch self {
    case .phone(let text): (try? E164Number(text))?.testNumber == nil ? nil : "the gateway's own voice"
    case .conference: "the others, mixed by the gateway"
    case .sip, .user: nil
    }
  }

  var text: String {
    switch self {
    case .phone(let text), .sip(let text): text
    case .user(let text): "user \(text)"
    case .conference(let text): "conference \(text)"
    }
  }

  func place(_ client: Client, headers: [String: String], caller: String?) throws -> Call {
    switch self {
    case .phone(let number): try client.calls.callPhoneNumber(number, headers: headers, callerNumber: caller)
    case .sip(let address): try client.calls.callSIP(address, headers: headers)
    case .user(let user): try client.calls.callUser(user, headers: headers)
    case .conference(let room): try client.calls.callConference(room, headers: headers)
    }
  }
}
