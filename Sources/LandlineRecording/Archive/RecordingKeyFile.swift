import CallModel
import Foundation
import Logging

/// Where the keys of an environment's recordings come from.
enum RecordingKeyFile {
  /// In the folder of the recordings, where no other file is named.
  static let name = "recording.key"

  /// The keys of an environment, the newest first.
  /// - Parameter path: of a key file that must be there; `nil` for one in the folder, which is made where there is none. With
  ///   a file that is named, the folder's own is still read, for what was sealed before.
  /// - Throws: ``InvalidValue`` with rule `recording.key`.
  static func keys(path: String?, folder: RecordingFolder, log: Logger) throws(InvalidValue) -> [RecordingKey] {
    let own = folder.path + "/" + name
    guard let path else {
      var generator = SystemRandomNumberGenerator()
      let bytes = (0..<RecordingKey.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
      do throws(DiskFailure) {
        if try RecordingFolder.make(own, RecordingKey.text(bytes) + "\n") {
          log.notice(
            "a key for recordings was made: keep a copy of it elsewhere, for without it they cannot be read",
            metadata: ["path": "\(own)"])
        }
      } catch {
        throw RecordingKey.refusal("\(own) cannot be made: \(error)")
      }
      return try read(own)
    }
    let keys = try read(path)
    return access(own, F_OK) == 0 ? keys + (try read(own)) : keys
  }

  private static func read(_ path: String) throws(InvalidValue) -> [RecordingKey] {
    let file: OpenFile
    do throws(DiskFailure) { file = try OpenFile(path: path) } catch {
      throw RecordingKey.refusal("\(path) cannot be read: \(error)")
    }
    guard file.permissions & 0o077 == 0 else {
      throw RecordingKey.refusal("others than its owner may read or write \(path): chmod 600 \(path)")
    }
    guard let text = file.text else { throw RecordingKey.refusal("\(path) is no text of a few lines") }
    do { return try RecordingKey.keys(text) } catch {
      throw RecordingKey.refusal("\(path): \(error.problem)")
    }
  }
}
