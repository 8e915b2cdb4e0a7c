/// The values of rtpengine's control protocol, as it writes them on the wire.
package enum Bencode {
  package indirect enum Value {
    case text(String)
    case list([Value])
    case dictionary([(String, Value)])
  }

  package static func write(_ value: Value) -> String {
    switch value {
    case .text(let text): "\(text.utf8.count):\(text)"
    case .list(let values): "l\(values.map(write).joined())e"
    case .dictionary(let pairs): "d\(pairs.map { write(.text($0)) + write($1) }.joined())e"
    }
  }

  /// The texts of a dictionary's first level; numbers and nested values are left out.
  package static func texts(_ bytes: some Collection<UInt8>) -> [String: String] {
    var rest = Array(bytes)[...]
    guard rest.popFirst() == UInt8(ascii: "d") else { return [:] }
    var result: [String: String] = [:]
    while rest.first != UInt8(ascii: "e"), let name = text(&rest) {
      if let value = text(&rest) { result[name] = value } else if !skip(&rest, depth: 0) { break }
    }
    return result
  }

  private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
      let count = Int(String(decoding: rest[rest.startIndex..<colon], as: UTF8.self)), count >= 0,
      rest.endIndex - colon - 1 >= count
    else { return nil }
    let start = colon + 1
    defer { rest = rest[(start + count)...] }
    return String(decoding: rest[start..<(start + count)], as: UTF8.self)
  }

  private static func skip(_ rest: inout ArraySlice<UInt8>, depth: Int) -> Bool {
    switch rest.first {
    case UInt8(ascii: "i"):
      guard let end = rest.firstIndex(of: UInt8(ascii: "e")) else { return false }
      rest = rest[(end + 1)...]
      return true
    case UInt8(ascii: "l"), UInt8(ascii: "d"):
      guard depth < 16 else { return false }
      rest = rest.dropFirst()
      while rest.first != UInt8(ascii: "e") { guard skip(&rest, depth: depth + 1) else { return false } }
      rest = rest.dropFirst()
      return true
    default: return text(&rest) != nil
    }
  }
}
