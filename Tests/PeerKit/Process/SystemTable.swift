import Glibc

/// Files of proc(5), whose size is not told and of which each read gives a page or so: Foundation ends after the first.
public enum SystemTable {
  private static let readBytes = 65_536

  /// All of the file; empty where it cannot be read.
  public static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: readBytes)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[0..<count]
    }
  }
}
