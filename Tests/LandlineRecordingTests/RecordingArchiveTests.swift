import CallEngine
import CallModel
import Foundation
import LandlineRecording
import MediaCore
import PeerKit
import Synchronization
import Testing

@Suite("The archive of recordings")
struct RecordingArchiveTests {
  @Test("a WAV file comes back as it went, with its row at the beginning and at the end")
  func wav() async throws {
    let archive = try Archive()
    let writer = try archive.begin("r1").get()
    let sound = stereo(milliseconds: 2530)
    for start in stride(from: 0, to: sound.count, by: 640) {
      writer.append(Array(sound[start..<min(start + 640, sound.count)]))
    }
    writer.finish()
    writer.append([1, 2, 3, 4])
    writer.finish()
    let ended = try await archive.ended("r1")
    #expect(ended.state == .complete && ended.milliseconds == 2530)
    #expect(archive.rows.kept.map(\.state) == [.running, .complete])
    #expect(archive.rows.rows == [ended])
    #expect(ended.bytes == Int64(try Data(contentsOf: archive.file("r1")).count))
    #expect(archive.archive.usage.bytes == ended.bytes && archive.archive.usage.running == 0)
    let file = try archive.whole(ended)
    #expect(Sound(file.dropFirst(44)) == Sound(sound))
    let read = try WAVReader(file)
    #expect(read.milliseconds == 2530 && read.samplingRate == 16_000)
    // The sound stands nowhere on the disk as it is.
    #expect(try Data(contentsOf: archive.file("r1")).range(of: Data(sound[3200..<3232])) == nil)
    let reader = try archive.archive.reader(of: ended)
    #expect(reader.isComplete)
    for (from, count) in [(0, 10), (40, 8), (44, 1), (43, 2), (file.count - 3, 100), (1000, 70_000), (file.count, 1)] {
      #expect(
        try Sound(reader.read(from: Int64(from), count: count)) == Sound(file[from..<min(file.count, from + count)]),
        "\(count) from \(from)")
    }
    await archive.archive.close()
    #expect(archive.ends.all == [ended])
  }

  @Test("Opus in Ogg: one stream with its end, as long as the sound was")
  func opus() async throws {
    let archive = try Archive()
    var conference = Recording(
      id: RecordingID(unchecked: "k"), subject: .conference(application: "app", try ConferenceID("k")),
      environment: Archive.environment, account: AccountName(unchecked: "anna"), format: .opus,
      startedAt: Archive.startedAt)
    let writer = try archive.archive.begin(conference) { [ends = archive.ends] in ends.add($0) }.get()
    for start in 0..<150 { writer.append((0..<640).map { UInt8(truncatingIfNeeded: $0 &* start) & 3 }) }
    writer.finish()
    conference = try await archive.ended("k")
    #expect(conference.state == .complete && conference.milliseconds == 3000)
    let file = try archive.whole(conference)
    let read = try file.withUnsafeBytes { try OggOpus($0) }
    #expect(read.duration == 144_000)
    await archive.archive.close()
  }

  @Test("a process that is killed: the next one finds the rows, the sound up to the last second, and a file that plays")
  func killed() async throws {
    let first = try Archive()
    var begun: [Recording] = []
    for (id, format) in [("wav", RecordingFormat.wav), ("opus", .opus)] {
      let writer = try first.begin(id, format).get()
      for second in 0..<3 {
        let before = try Data(contentsOf: first.folder.url, in: first.file(id))
        writer.append(stereo(milliseconds: 1000, from: second * 1000))
        _ = try await Deadline(seconds: 10).first("second \(second)") {
          try Data(contentsOf: first.folder.url, in: first.file(id)).count > max(before.count, 32) ? true : nil
        }
      }
      // Not enough for a segment.
      writer.append(stereo(milliseconds: 400, from: 3000))
      begun.append(Archive.recording(id, format))
    }
    // In the middle of a segment, as a kill may leave it.
    let folder = try first.copy()
    let torn = Archive.path(folder) + "/wav.sealed"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: torn))
    bytes.append(contentsOf: [0, 0xFA, 0, 0, 0, 1, 2, 3])
    try bytes.write(to: URL(fileURLWithPath: torn))
    begun.append(Archive.recording("gone"))
    var done = Archive.recording("done")
    done.state = .complete
    let second = try Archive(folder, rows: MemoryRows(begun + [done]))
    await second.archive.recover()
    let rows = Dictionary(uniqueKeysWithValues: second.rows.rows.map { ($0.id.text, $0) })
    #expect(rows["wav"]?.state == .interrupted && rows["wav"]?.milliseconds == 3000)
    #expect(rows["opus"]?.state == .interrupted)
    // The encoder and the page of Ogg hold some of the last half a second.
    #expect((2900...3000).contains(rows["opus"]?.milliseconds ?? 0), "\(rows["opus"]?.milliseconds ?? 0) ms")
    #expect(rows["gone"]?.state == .interrupted && rows["gone"]?.bytes == 0)
    #expect(rows["done"] == done)
    let wav = try #require(rows["wav"])
    #expect(Sound(try second.whole(wav).dropFirst(44)) == Sound(stereo(milliseconds: 3000)))
    #expect(try !second.archive.reader(of: wav).isComplete)
    let opus = try second.whole(try #require(rows["opus"]))
    #expect(RecordingEncoder.closingPage(after: opus) == nil, "the stream has no end")
    #expect(RecordingEncoder.endOfLastPage(in: opus) == opus.count)
    #expect(throws: RecordingFault.missing(RecordingID(unchecked: "gone"))) {
      try second.archive.reader(of: Archive.recording("gone"))
    }
    await first.archive.close()
    await second.archive.close()
  }

  @Test("what another process writes just now is no left-over, and cannot be removed")
  func alive() async throws {
    let first = try Archive()
    let writer = try first.begin("r1").get()
    _ = try await Deadline(seconds: 10).first("file") { first.files.isEmpty ? nil : true }
    let second = try Archive(first.folder, rows: MemoryRows([Archive.recording("r1")]))
    await second.archive.recover()
    #expect(second.rows.rows.map(\.state) == [.running])
    let id = RecordingID(unchecked: "r1")
    for archive in [first, second] {
      await #expect(throws: RecordingFault.running(id)) { try await archive.archive.remove(id) }
    }
    writer.finish()
    _ = try await first.ended("r1")
    await second.archive.recover()
    #expect(second.rows.rows.map(\.state) == [.interrupted])
    await first.archive.close()
    await second.archive.close()
  }

  @Test("where the environment has no room for more, all that runs ends, is told, and stays readable")
  func full() async throws {
    let archive = try Archive { $0.maximumBytes = 200_000 }
    let writers = try ["a", "b"].map { try archive.begin($0).get() }
    let deadline = Deadline(seconds: 20)
    var seconds = 0
    while archive.ends.all.count < 2, !deadline.hasPassed {
      for writer in writers { writer.append(stereo(milliseconds: 1000, from: seconds * 1000)) }
      seconds += 1
      let before = archive.archive.usage.bytes
      _ = try await Deadline(seconds: 10).first("room that is taken") {
        archive.archive.usage.bytes > before || archive.ends.all.count == 2 ? true : nil
      }
    }
    let ended = try await [archive.ended("a"), archive.ended("b")]
    for each in ended {
      #expect(each.state == .full && each.milliseconds >= 1000)
      #expect(Sound(try archive.whole(each).dropFirst(44)) == Sound(stereo(milliseconds: Int(each.milliseconds))))
      #expect(try archive.archive.reader(of: each).isComplete)
    }
    #expect(archive.lines.all.filter { $0.hasPrefix("error") }.count == 1)
    #expect(archive.lines.all.contains { $0.contains("no room for more") })
    guard case .failure(.full) = archive.begin("c") else { return #expect(Bool(false), "it began") }
    #expect(archive.rows.kept.count == 4)
    // Room comes with what is removed.
    for each in ended { #expect(try await archive.archive.remove(each.id)) }
    #expect(archive.archive.usage.bytes == 0 && archive.files.isEmpty && archive.rows.rows.isEmpty)
    #expect(try await !archive.archive.remove(ended[0].id))
    try archive.begin("c").get().finish()
    #expect(try await archive.ended("c").state == .complete)
    await archive.archive.close()
  }

  @Test("room that must stay free on the disk")
  func space() async throws {
    let free = Mutex<Int64>(1000)
    var disk = RecordingDisk()
    disk.freeBytes = { _ in free.withLock { $0 } }
    let archive = try Archive(disk: disk) { $0.leastFreeBytes = 500 }
    let writer = try archive.begin("a").get()
    writer.append(stereo(milliseconds: 10))
    free.withLock { $0 = 400 }
    #expect(try await archive.ended("a").state == .full)
    guard case .failure(.noSpace) = archive.begin("b") else { return #expect(Bool(false), "it began") }
    await archive.archive.close()
  }

  /// What a disk answers that fails.
  struct Trouble: CustomTestStringConvertible {
    var code: Int32
    var advice: String
    var testDescription: String { String(cString: strerror(code)) }
  }

  @Test(
    "a disk that takes no more ends the recording, and what is whole stays",
    arguments: [
      Trouble(code: ENOSPC, advice: "make room"), Trouble(code: EIO, advice: "dmesg"),
      Trouble(code: EFBIG, advice: "ulimit -f"),
    ])
  func trouble(_ trouble: Trouble) async throws {
    let room = Mutex(32 + 64_021 + 1000)
    var disk = RecordingDisk()
    // The rest of its room is still taken, as by a real disk: a write that is cut short, then the refusal.
    disk.write = { descriptor, bytes in
      let taken = room.withLock { room in
        let taken = min(room, bytes.count)
        room -= taken
        return taken
      }
      guard taken > 0 else {
        errno = trouble.code
        return -1
      }
      return write(descriptor, bytes.baseAddress, taken)
    }
    let archive = try Archive(disk: disk)
    let writer = try archive.begin("a").get()
    writer.append(stereo(milliseconds: 1000))
    _ = try await Deadline(seconds: 10).first("the first second") { archive.archive.usage.bytes > 64_000 ? true : nil }
    writer.append(stereo(milliseconds: 1000, from: 1000))
    let ended = try await archive.ended("a")
    #expect(ended.state == .failed && ended.milliseconds == 1000 && ended.bytes == 32 + 64_021)
    #expect(archive.archive.usage.bytes == ended.bytes)
    #expect(Sound(try archive.whole(ended).dropFirst(44)) == Sound(stereo(milliseconds: 1000)))
    #expect(try !archive.archive.reader(of: ended).isComplete)
    let errors = archive.lines.all.filter { $0.hasPrefix("error") }
    #expect(errors.count == 1 && errors[0].contains(trouble.advice), "\(errors)")
    writer.append(stereo(milliseconds: 1000))
    writer.finish()
    await archive.archive.close()
    #expect(archive.ends.all.count == 1)
  }

  @Test("a disk that cannot be flushed, and a full device")
  func unflushed() async throws {
    var disk = RecordingDisk()
    disk.flush = { _ in
      errno = EIO
      return -1
    }
    let archive = try Archive(disk: disk)
    let writer = try archive.begin("a").get()
    writer.append(stereo(milliseconds: 1500))
    writer.finish()
    let ended = try await archive.ended("a")
    #expect(ended.state == .failed && ended.milliseconds == 1500)
    await archive.archive.close()

    let device = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(device >= 0)
    defer { close(device) }
    disk = RecordingDisk()
    disk.write = { write(device, $1.baseAddress, $1.count) }
    let full = try Archive(disk: disk)
    _ = full.begin("a")
    let failed = try await full.ended("a")
    #expect(failed.state == .failed && failed.bytes == 0 && failed.milliseconds == 0)
    #expect(full.lines.all.contains { $0.contains("No space left") })
    await full.archive.close()
  }

  @Test("a disk that hangs holds nobody up: what waits is bounded, and the recording ends")
  func slow() async throws {
    let gate = DispatchSemaphore(value: 0)
    let isOpen = Mutex(false)
    let hangs = Mutex(false)
    var disk = RecordingDisk()
    disk.write = { descriptor, bytes in
      hangs.withLock { $0 = true }
      if !isOpen.withLock({ $0 }) { gate.wait() }
      return write(descriptor, bytes.baseAddress, bytes.count)
    }
    let archive = try Archive(disk: disk)
    let writer = try archive.begin("a").get()
    _ = try await Deadline(seconds: 10).first("write that hangs") { hangs.withLock { $0 } ? true : nil }
    let chunk = [UInt8](repeating: 1, count: 64_000)
    let count = RecordingArchive.Limits.maximumWaitingBytes / chunk.count
    for _ in 0..<(count + 1) { writer.append(chunk) }
    #expect(archive.ends.all.isEmpty)
    isOpen.withLock { $0 = true }
    gate.signal()
    let ended = try await archive.ended("a")
    #expect(ended.state == .failed)
    #expect(ended.milliseconds == Int64(count) * 1000)
    #expect(archive.lines.all.contains { $0.contains("as fast as it comes") })
    await archive.archive.close()
  }

  @Test("no more at a time than may be, and no id twice")
  func many() async throws {
    let archive = try Archive { $0.maximumRunning = 2 }
    let first = try archive.begin("a").get()
    guard case .failure(.tooMany) = archive.begin("a") else { return #expect(Bool(false), "it began twice") }
    _ = try archive.begin("b").get()
    guard case .failure(.tooMany) = archive.begin("c") else { return #expect(Bool(false), "it began") }
    #expect(archive.archive.usage.running == 2)
    first.finish()
    _ = try await archive.ended("a")
    #expect(archive.archive.usage.running == 1)
    // A file that is there is left alone.
    let before = try Data(contentsOf: archive.file("a"))
    _ = try archive.begin("a").get()
    _ = try await Deadline(seconds: 10).first("second end of a") { archive.ends.all.count == 2 ? true : nil }
    #expect(archive.ends.all.map(\.state) == [.complete, .failed])
    #expect(try Data(contentsOf: archive.file("a")) == before)
    // An id that would lead elsewhere makes no file.
    _ = try archive.begin("../x").get()
    #expect(try await archive.ended("../x").state == .failed)
    #expect(!FileManager.default.fileExists(atPath: archive.folder.url.path + "/x.sealed"))
    await archive.archive.close()
  }

  @Test("a close ends what runs, with all of it on the disk; nothing begins after it")
  func closing() async throws {
    let archive = try Archive()
    let writers = try (0..<20).map { try archive.begin("r\($0)", $0 % 2 == 0 ? .wav : .opus).get() }
    for writer in writers { writer.append(stereo(milliseconds: 700)) }
    await archive.archive.close()
    #expect(archive.ends.all.count == 20 && archive.archive.usage.running == 0)
    for ended in archive.ends.all {
      #expect(ended.state == .interrupted && ended.milliseconds == 700)
      #expect(try archive.archive.reader(of: ended).isComplete)
    }
    #expect(archive.rows.rows == archive.ends.all.sorted { $0.id < $1.id })
    guard case .failure(.closed) = archive.begin("late") else { return #expect(Bool(false), "it began") }
    for writer in writers { writer.append(stereo(milliseconds: 100)) }
    await archive.archive.close()
    #expect(archive.ends.all.count == 20)
  }

  @Test("what is too old goes, with its file; so do files that nobody knows, after a day")
  func expiry() async throws {
    let archive = try Archive { $0.retentionSeconds = 3600 }
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    for (id, age) in [("old", 3601), ("young", 3599)] {
      try archive.begin(id, at: now.advanced(byMilliseconds: Int64(-age * 1000))).get().finish()
      _ = try await archive.ended(id)
    }
    let running = try archive.begin("runs", at: now.advanced(byMilliseconds: -86_400_000)).get()
    _ = try await Deadline(seconds: 10).first("file") { archive.files.contains("runs.sealed") ? true : nil }
    for name in ["orphan.sealed", "new.sealed", "some.txt", "no id.sealed"] {
      let path = Archive.path(archive.folder) + "/" + name
      #expect(FileManager.default.createFile(atPath: path, contents: Data([1, 2])))
      guard name != "new.sealed" else { continue }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: path)
    }
    #expect(await archive.archive.expire(at: now) == 2)
    #expect(archive.files == ["new.sealed", "no id.sealed", "runs.sealed", "young.sealed"])
    #expect(FileManager.default.fileExists(atPath: Archive.path(archive.folder) + "/some.txt"))
    #expect(archive.rows.rows.map(\.id.text) == ["runs", "young"])
    #expect(await archive.archive.expire(at: now) == 0)
    running.finish()
    _ = try await archive.ended("runs")
    #expect(await archive.archive.expire(at: now) == 1)
    await archive.archive.close()

    let forEver = try Archive(archive.folder, rows: archive.rows) { $0.retentionSeconds = nil }
    #expect(await forEver.archive.expire(at: now.advanced(byMilliseconds: 3_600_000)) == 0)
    #expect(forEver.rows.rows.map(\.id.text) == ["young"])
    // Neither does it overflow.
    await forEver.archive.close()
    let longest = try Archive(archive.folder, rows: archive.rows) { $0.retentionSeconds = .max }
    #expect(await longest.archive.expire(at: now) == 0)
    await longest.archive.close()
  }

  @Test("a store that is away for a moment gets the rows; one that stays away is told in the log")
  func store() async throws {
    let short = try Archive(rows: MemoryRows(failures: 2))
    try short.begin("a").get().finish()
    let ended = try await short.ended("a")
    #expect(short.rows.kept.map(\.state) == [.running, .complete] && short.rows.rows == [ended])
    await short.archive.close()
    let long = try Archive(rows: MemoryRows(failures: 1000))
    try long.begin("a").get().finish()
    #expect(try await long.ended("a").state == .complete)
    #expect(long.rows.rows.isEmpty && long.files == ["a.sealed"])
    #expect(long.lines.all.filter { $0.contains("cannot be kept") }.count == 2)
    await long.archive.close()
  }

  @Test("the row of an end never comes before that of its beginning, and none can be removed in between")
  func order() async throws {
    let rows = MemoryRows()
    rows.isHeld = true
    let archive = try Archive(rows: rows)
    try archive.begin("a").get().finish()
    _ = try await Deadline(seconds: 10).first("end of the sound") { archive.archive.usage.running == 0 ? true : nil }
    await #expect(throws: RecordingFault.running(RecordingID(unchecked: "a"))) {
      try await archive.archive.remove(RecordingID(unchecked: "a"))
    }
    guard case .failure(.tooMany) = archive.begin("a") else { return #expect(Bool(false), "it began twice") }
    #expect(rows.kept.isEmpty && archive.ends.all.isEmpty)
    rows.isHeld = false
    let ended = try await archive.ended("a")
    #expect(rows.kept.map(\.state) == [.running, .complete])
    #expect(try await archive.archive.remove(ended.id))
    await archive.archive.close()
  }

  @Test("an archive that is dropped ends what runs, as at a close")
  func dropped() async throws {
    let ends = Ends()
    let folder = try TemporaryFolder("recordings")
    do {
      let archive = try Archive(folder)
      let writer = try archive.archive.begin(Archive.recording("a")) { ends.add($0) }.get()
      writer.append(stereo(milliseconds: 300))
    }
    let ended = try await ends.of(RecordingID(unchecked: "a"))
    #expect(ended.state == .interrupted && ended.milliseconds == 300)
  }

  @Test("two hundred at once, none of which loses a byte")
  func crowd() async throws {
    let archive = try Archive()
    let writers = try (0..<200).map { try archive.begin("r\($0)").get() }
    for start in 0..<5 {
      let sound = stereo(milliseconds: 400, from: start * 400)
      for writer in writers { writer.append(sound) }
    }
    for writer in writers { writer.finish() }
    let whole = stereo(milliseconds: 2000)
    for number in 0..<200 {
      let ended = try await archive.ended("r\(number)")
      #expect(ended.state == .complete && ended.milliseconds == 2000)
      #expect(Sound(try archive.whole(ended).dropFirst(44)) == Sound(whole))
    }
    await archive.archive.close()
  }
}

extension Data {
  /// Of a file that may not be there yet.
  fileprivate init(contentsOf folder: URL, in file: URL) throws {
    self = FileManager.default.fileExists(atPath: file.path) ? try Data(contentsOf: file) : Data()
  }
}
