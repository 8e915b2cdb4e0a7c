import CallModel
import NIOCore

/// The beat of a call's sound: a frame out and a frame in every 20 ms, counted from the first one so that nothing drifts.
final class AudioPump {
  struct Frame {
    var sent: [Int16]
    /// The app is muted from this frame on, or not any more; `nil`: as before.
    var mutedChange: Bool?
  }

  /// Frames that are made up for when the loop was late; what is older is left out.
  static let maximumCatchUp = 5
  static let silence = [Int16](repeating: 0, count: AudioFormat.frameSamples)

  private struct Place {
    var number: UInt64
    var player: SoundPlayer
    /// The end was told to the controller.
    var isOver = false
  }

  private let eventLoop: any EventLoop
  /// The call's own, then the client's.
  private let controllers: [AudioController]
  private var places: [Place?]
  private var step: ((Frame) -> [Int16])?
  private var next = MonotonicInstant.zero
  private var task: Scheduled<Void>?
  private var wasMuted = false
  /// Frames that were left out because the loop was late.
  private(set) var skipped: UInt64 = 0
  /// The app is heard.
  var hasSource = false

  init(on eventLoop: any EventLoop, _ controllers: [AudioController]) {
    self.eventLoop = eventLoop
    self.controllers = controllers
    places = controllers.map { _ in nil }
  }

  /// Begins with the beat; `step` takes a frame to send and gives the one that was received.
  func start(_ step: @escaping (Frame) -> [Int16]) {
    guard self.step == nil else { return }
    self.step = step
    next = Clock.now
    for controller in controllers { controller.enter(ObjectIdentifier(self)) }
    beat()
  }

  func stop() {
    task?.cancel()
    task = nil
    if step != nil { for controller in controllers { controller.leave(ObjectIdentifier(self)) } }
    step = nil
    // The client's own sink goes on with its other calls.
    controllers.first?.snapshot.sink?.finish()
  }

  private func beat() {
    task = nil
    let now = Clock.now
    var frames = 0
    while next <= now, frames < AudioPump.maximumCatchUp {
      exchange(at: now)
      next = next.advanced(byMilliseconds: Int64(AudioFormat.frameMilliseconds))
      frames += 1
    }
    while next <= now {
      next = next.advanced(byMilliseconds: Int64(AudioFormat.frameMilliseconds))
      skipped += 1
    }
    guard step != nil else { return }
    task = eventLoop.assumeIsolated().scheduleTask(deadline: Clock.deadline(next)) { [weak self] in self?.beat() }
  }

  private func exchange(at now: MonotonicInstant) {
    guard let step else { return }
    let states = controllers.map(\.snapshot)
    let isMuted = states.contains(where: \.isMuted)
    var sent = AudioPump.silence
    if hasSource { sent = sound(states) }
    if isMuted { sent = AudioPump.silence }
    var frame = Frame(sent: sent)
    if isMuted != wasMuted { frame.mutedChange = isMuted }
    wasMuted = isMuted
    let received = step(frame)
    let heard = withSoundFiles(received)
    for state in states {
      state.sink?.write(received: state.sink?.hearsSoundFiles ?? false ? heard : received, sent: sent, at: now)
    }
  }

  /// What the app's own user hears: the other side, and the files that play for the user alone.
  private func withSoundFiles(_ received: [Int16]) -> [Int16] {
    controllers.reduce(received) { heard, controller in
      let played = controller.nextPlayed(for: ObjectIdentifier(self))
      return played.isEmpty ? heard : AudioPump.mixed(AudioPump.fitted(heard), AudioPump.fitted(played))
    }
  }

  /// What the app says: its source, and the files for the other side.
  private func sound(_ states: [AudioController.State]) -> [Int16] {
    var sound: [Int16] = []
    if let source = states.lazy.compactMap(\.source).first {
      sound = AudioPump.fitted(source.next(AudioFormat.frameSamples))
    }
    for index in states.indices {
      guard let sending = states[index].sending else {
        places[index] = nil
        continue
      }
      if places[index]?.number != sending.number {
        places[index] = Place(number: sending.number, player: SoundPlayer(sending.file, loops: sending.loops))
      }
      guard var place = places[index], !place.isOver else { continue }
      let played = AudioPump.fitted(place.player.next(AudioFormat.frameSamples))
      if place.player.isFinished {
        place.isOver = true
        // The client's file may be at another place in another call.
        if index == 0 { controllers[index].finished(sending.number) }
      }
      places[index] = place
      sound = sending.mode == .mixed && !sound.isEmpty ? AudioPump.mixed(sound, played) : played
    }
    return sound.isEmpty ? AudioPump.silence : sound
  }

  static func fitted(_ samples: [Int16]) -> [Int16] {
    if samples.count == AudioFormat.frameSamples { return samples }
    let kept = samples.prefix(AudioFormat.frameSamples)
    return Array(kept) + repeatElement(0, count: AudioFormat.frameSamples - kept.count)
  }

  private static func mixed(_ left: [Int16], _ right: [Int16]) -> [Int16] {
    zip(left, right).map { Int16(clamping: Int($0) + Int($1)) }
  }
}
