import Dispatch
import Foundation
package import MediaCore
package import NodeCore
import Synchronization

/// The sounds of one environment: files of a folder, and what a speech engine says.
package final class SoundShelf: Sendable {
  /// Sounds that are kept in memory once they were played, the latest.
  static let maximumKept = 16
  /// Bytes of a file.
  static let maximumBytes = WAVReader.maximumSize
  static let endings = ["wav", "opus", "ogg"]

  private struct Known {
    var name: String
    var changedAt: Date
    var sound: PlayableSound
  }

  private let folder: String?
  private let speech: (any SpeechDriver)?
  private let known = Mutex<[Known]>([])
  /// A file of two minutes takes a second of a core: one at a time, and on none of the threads that others wait for.
  private let reader = DispatchQueue(label: "landline.sounds")

  /// - Parameters:
  ///   - folder: `nil`: no file is played.
  ///   - speech: `nil`: no text is spoken.
  package init(folder: String?, speech: (any SpeechDriver)?) {
    self.folder = folder
    self.speech = speech
  }

  /// - Throws: ``SoundProblem``.
  package func sound(_ words: SpokenWords) async throws(SoundProblem) -> PlayableSound {
    switch words {
    case .sound(let name):
      let read: Result<PlayableSound, SoundProblem> = await withCheckedContinuation { continuation in
        reader.async {
          continuation.resume(returning: Result { () throws(SoundProblem) in try self.file(name) })
        }
      }
      return try read.get()
    case .text(let text):
      guard let speech else {
        throw SoundProblem(.missing, "no speech engine is installed", fix: "install flite, or play a file")
      }
      guard let spoken = SpokenText(text) else {
        throw SoundProblem(
          .invalid, "the text cannot be spoken", fix: "1 to \(SpokenText.maximumCharacters) printable characters")
      }
      do throws(SpeechFailure) { return try await speech.speech(spoken) } catch {
        throw SoundProblem(
          error.isBusy ? .busy : .failed, "the text was not spoken: \(error.problem)", fix: "again in a moment")
      }
    }
  }

  private func file(_ name: String) throws(SoundProblem) -> PlayableSound {
    // A name is no path.
    let letters = name.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F
    }
    guard (1...64).contains(name.utf8.count), letters else {
      throw SoundProblem(.invalid, "no name of a sound", fix: "1 to 64 of a-z, 0-9, - and _, without an ending")
    }
    guard let folder else {
      throw SoundProblem(.missing, "the environment has no folder of sounds", fix: "environments.NAME.sounds")
    }
    let paths = SoundShelf.endings.map { "\(folder)/\(name).\($0)" }
    guard let path = paths.first(where: { FileManager.default.isReadableFile(atPath: $0) }) else {
      throw SoundProblem(
        .missing, "there is no sound \(name)",
        fix: "a file \(name).wav or \(name).opus in the environment's folder of sounds")
    }
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    let changedAt = facts?[.modificationDate] as? Date ?? .distantPast
    if let sound = known.withLock({ $0.first { $0.name == name && $0.changedAt == changedAt }?.sound }) { return sound }
    guard (facts?[.size] as? Int ?? .max) <= SoundShelf.maximumBytes,
      let bytes = FileManager.default.contents(atPath: path)
    else {
      throw SoundProblem(.failed, "\(path) cannot be read", fix: "a file of at most \(SoundShelf.maximumBytes) bytes")
    }
    let sound: PlayableSound
    do throws(PlayableSound.Failure) { sound = try PlayableSound(file: Array(bytes)) } catch {
      throw SoundProblem(.failed, "\(path): \(error)", fix: "a WAV file of 16 bits, or Opus in Ogg in one channel")
    }
    known.withLock { known in
      known.removeAll { $0.name == name }
      known.append(Known(name: name, changedAt: changedAt, sound: sound))
      if known.count > SoundShelf.maximumKept { known.removeFirst() }
    }
    return sound
  }
}
