import Dispatch
import Foundation
package import MediaCore
import Synchronization

/// Speaks with flite, a small engine that needs no network, in a process of its own for each text.
package final class FliteSpeech: SpeechDriver {
  /// Texts that are spoken at a time; one more is refused.
  package static let maximumAtOnce = 2
  /// Within which a text must be spoken.
  package static let maximumSeconds = 10

  private let path: String
  private let running = Mutex(0)

  /// - Parameter path: of the program.
  package init(path: String) { self.path = path }

  /// Where it is installed; `nil`: nowhere.
  package static func find(in environment: [String: String] = ProcessInfo.processInfo.environment) -> FliteSpeech? {
    let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/bin", "/usr/local/bin"]
    return folders.map { "\($0)/flite" }.first { FileManager.default.isExecutableFile(atPath: $0) }
      .map { FliteSpeech(path: $0) }
  }

  package func speech(_ text: SpokenText) async throws(SpeechFailure) -> PlayableSound {
    guard
      running.withLock({ count in
        guard count < FliteSpeech.maximumAtOnce else { return false }
        count += 1
        return true
      })
    else { throw SpeechFailure("\(FliteSpeech.maximumAtOnce) texts are being spoken", isBusy: true) }
    defer { running.withLock { $0 -= 1 } }
    let path = path
    let spoken: Result<PlayableSound, SpeechFailure> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          returning: Result { () throws(SpeechFailure) in try FliteSpeech.speak(text, with: path) })
      }
    }
    return try spoken.get()
  }

  private static func speak(_ text: SpokenText, with path: String) throws(SpeechFailure) -> PlayableSound {
    // What is said is nobody else's on this machine.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("landline-speech-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch { throw SpeechFailure("\(folder.path) cannot be made: \(error.localizedDescription)") }
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("text.wav")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    // The text is one argument, which no shell reads.
    process.arguments = ["-voice", "slt", "-t", text.text, "-o", file.path]
    process.environment = ["LC_ALL": "C.UTF-8"]
    (process.standardInput, process.standardOutput, process.standardError) = (
      FileHandle.nullDevice, FileHandle.nullDevice, FileHandle.nullDevice
    )
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    do { try process.run() } catch { throw SpeechFailure("\(path) cannot be run: \(error.localizedDescription)") }
    if ended.wait(timeout: .now() + .seconds(maximumSeconds)) == .timedOut {
      kill(process.processIdentifier, SIGKILL)
      throw SpeechFailure("\(path) did not end within \(maximumSeconds) s")
    }
    guard process.terminationStatus == 0, let bytes = try? Data(contentsOf: file) else {
      throw SpeechFailure("\(path) ended with \(process.terminationStatus)")
    }
    do { return try PlayableSound(file: Array(bytes)) } catch { throw SpeechFailure("\(path): \(error)") }
  }
}
