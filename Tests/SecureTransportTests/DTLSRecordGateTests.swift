import SDPCore
import SecureTransport
import Testing

@Suite struct DTLSRecordGateTests {
  private func record(_ type: UInt8, epoch: UInt8 = 0, version: [UInt8] = [0xFE, 0xFD], _ body: [UInt8]) -> [UInt8] {
    [type] + version + [0, epoch, 0, 0, 0, 0, 0, 1, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
  }

  private func message(_ type: UInt8, length: Int, offset: Int = 0, fragment: Int, bytes: Int? = nil) -> [UInt8] {
    func uint24(_ value: Int) -> [UInt8] { [UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255)] }
    return [type] + uint24(length) + [0, 0] + uint24(offset) + uint24(fragment)
      + Array(repeating: 7, count: bytes ?? fragment)
  }

  private func admitted(_ bytes: [UInt8], isServer: Bool = true) -> Int {
    var gate = DTLSRecordGate(role: isServer ? .server : .client)
    return gate.admit(PacketBuffer(bytes), isEstablished: false).count
  }

  @Test func wholeRecordsPass() {
    let hello = record(22, message(1, length: 20, fragment: 20))
    let change = record(20, [1])
    let finished = record(22, epoch: 1, Array(repeating: 3, count: 40))
    #expect(admitted(hello) == hello.count)
    #expect(admitted(hello + change + finished) == hello.count + change.count + finished.count)
    #expect(admitted(record(22, version: [0xFE, 0xFF], message(1, length: 20, fragment: 20))) == hello.count)
    let two = record(22, message(11, length: 3, fragment: 3) + message(16, length: 5, offset: 2, fragment: 3))
    #expect(admitted(two) == two.count)
    let done = record(22, message(14, length: 0, fragment: 0))
    #expect(admitted(done, isServer: false) == done.count)
  }

  @Test func nothingPassesFromTheFirstBadRecordOn() {
    let good = record(22, message(1, length: 20, fragment: 20))
    let bad: [[UInt8]] = [
      record(22, version: [0x03, 0x03], message(1, length: 20, fragment: 20)),
      record(22, message(2, length: 20, fragment: 20)),
      record(22, message(20, length: 20, fragment: 20)),
      record(22, message(200, length: 20, fragment: 20)),
      record(22, message(1, length: 20, fragment: 20, bytes: 19)),
      record(22, message(1, length: 20, offset: 1, fragment: 20)),
      record(22, message(1, length: 20, fragment: 0)),
      record(22, message(1, length: DTLSRecordGate.maximumMessage + 1, fragment: 20)),
      record(22, Array(message(1, length: 20, fragment: 20).prefix(11))),
      record(22, []), record(20, [2]), record(20, [1, 1]), record(23, [1]), record(24, [1]), record(25, [1]),
      record(22, epoch: 2, [1]), record(24, epoch: 1, [1]), [22, 0xFE], [],
    ]
    for bytes in bad {
      #expect(admitted(bytes) == 0, "\(bytes)")
      #expect(admitted(good + bytes) == good.count, "\(bytes)")
      #expect(bytes.isEmpty || admitted(good + bytes + good) == good.count, "\(bytes)")
    }
    for length in 0..<good.count { #expect(admitted(Array(good.prefix(length))) == 0) }
    #expect(admitted(Array(repeating: good, count: 40).flatMap { $0 }) == 0)
  }

  @Test func plainAlertsAreToldAndKept() {
    var gate = DTLSRecordGate(role: .client)
    let good = record(22, message(2, length: 20, fragment: 20))
    let fatal = gate.admit(PacketBuffer(good + record(21, [2, 40])), isEstablished: false)
    #expect(fatal.count == good.count && fatal.alert == 40 && fatal.hasHandshake)
    #expect(gate.admit(PacketBuffer(record(21, [1, 0])), isEstablished: false).alert == 0)
    #expect(gate.admit(PacketBuffer(record(21, [1, 90])), isEstablished: false).alert == nil)
    #expect(gate.admit(PacketBuffer(record(21, [2])), isEstablished: false).alert == nil)
    let protected = record(21, epoch: 1, Array(repeating: 0, count: 26))
    let admission = gate.admit(PacketBuffer(protected), isEstablished: false)
    #expect(admission.count == protected.count && admission.alert == nil)
  }

  @Test func earlyRecordsAreCountedFromFlightToFlight() {
    var gate = DTLSRecordGate(role: .server)
    let early = record(22, epoch: 1, Array(repeating: 0, count: 48))
    let packet = PacketBuffer(early)
    for _ in 0..<2 {
      for _ in 0..<DTLSRecordGate.maximumEarlyRecords {
        #expect(gate.admit(packet, isEstablished: false).count == early.count)
      }
      #expect(gate.admit(packet, isEstablished: false).count == 0)
      #expect(gate.admit(packet, isEstablished: true).count == early.count)
      gate.sentFlight()
    }
  }
}
