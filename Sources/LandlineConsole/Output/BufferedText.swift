/// Gathers many small texts into few writes.
enum BufferedText {
  static func write(to stream: TextStream, _ body: ((String) throws -> Void) throws -> Void) throws {
    var buffer = ""
    try body { text in
      buffer += text
      if buffer.utf8.count >= TextStream.chunk {
        try stream.write(buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try stream.write(buffer)
  }
}
