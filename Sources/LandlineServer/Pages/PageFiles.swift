import CLandlinePages
import Foundation

/// The files of the web pages: built into the executable, or read from a folder by whoever works on them.
public enum PageFiles: Hashable, Sendable {
  case none
  case builtIn
  case folder(String)

  /// Of one file, in a folder.
  static let maximumBytes = 1024 * 1024

  /// Names of the built-in files.
  static var names: [String] {
    var names: [String] = []
    while let name = landline_page_name(names.count) { names.append(String(cString: name)) }
    return names
  }

  /// - Parameter name: of a file, without any folder.
  func bytes(_ name: String) -> [UInt8]? {
    guard PageFiles.names.contains(name) || isFolder, !name.isEmpty, !name.hasPrefix("."),
      name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") })
    else { return nil }
    switch self {
    case .none: return nil
    case .builtIn:
      var count = 0
      guard let start = landline_page(name, &count) else { return nil }
      return Array(UnsafeBufferPointer(start: start, count: count))
    case .folder(let folder):
      guard let data = FileManager.default.contents(atPath: folder + "/" + name), data.count <= PageFiles.maximumBytes
      else { return nil }
      return [UInt8](data)
    }
  }

  private var isFolder: Bool {
    if case .folder = self { return true }
    return false
  }

  /// The media type of a file by its ending; `nil` for one that pages do not have.
  static func mediaType(of name: String) -> String? {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    case "ts": "text/plain; charset=utf-8"
    default: nil
    }
  }
}
