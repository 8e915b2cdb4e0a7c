import CLandlinePages
import Foundation

/// The files of the web pages: built into the executable, or read from a folder by whoever works on them.
public enum PageFiles: Hashable, Sendable {
  case none
  case builtIn
  case folder(String)

  /// Of one file, in a folder.
  package static let maximumBytes = 1024 * 1024
  package static let maximumNameBytes = 64

  /// By name; made once.
  package static let builtInFiles: [String: PageFile] = {
    var files: [String: PageFile] = [:]
    while let name = landline_page_name(files.count).map({ String(cString: $0) }) {
      var count = 0
      guard let start = landline_page(name, &count), files[name] == nil else { break }
      files[name] = PageFile(name, Array(UnsafeBufferPointer(start: start, count: count)))
    }
    return files
  }()

  /// - Parameter name: of a file, without any folder.
  package func file(_ name: String) -> PageFile? {
    guard PageFiles.isName(name) else { return nil }
    switch self {
    case .none: return nil
    case .builtIn: return PageFiles.builtInFiles[name]
    case .folder(let folder):
      let path = folder + "/" + name
      // A pipe in its place would never end, and a large file is none of ours.
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
        attributes[.type] as? FileAttributeType == .typeRegular,
        let size = attributes[.size] as? Int, size <= PageFiles.maximumBytes,
        let data = FileManager.default.contents(atPath: path), data.count <= PageFiles.maximumBytes
      else { return nil }
      return PageFile(name, [UInt8](data))
    }
  }

  /// Letters, digits and `. _ -`, with no dot in front: nothing that leads out of a folder.
  private static func isName(_ name: String) -> Bool {
    (1...maximumNameBytes).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
