import Foundation
import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct PromptTests {
  static let library = Result { try PromptLibrary() }

  @Test(arguments: Prompt.allCases) func everyCodecSaysTheSame(_ prompt: Prompt) throws {
    let library = try Self.library.get()
    let opus = library.recording(prompt, .opus)
    #expect((500...10_000).contains(opus.milliseconds))
    let spoken = try AudioDecoder(.opus, samplingRate: 8_000).sound(opus.packets)
    #expect(Sound.level(spoken) > 500)
    for codec in [AudioCodec.pcmu, .pcma, .g722] {
      let recording = library.recording(prompt, codec)
      #expect(abs(recording.milliseconds - opus.milliseconds) <= 40)
      #expect(recording.packets.allSatisfy { $0.count == 160 })
      let heard = try AudioDecoder(codec, samplingRate: 8_000).sound(recording.packets)
      // The Opus stream begins with 6.5 ms (52 samples) that its file drops.
      let words = 1_600..<4_000
      #expect(
        Sound.clarity(of: Array(spoken[words.lowerBound...]), like: Array(heard[words]), delay: 60)
          > (codec == .g722 ? 12 : 15), "\(codec)")
    }
  }

  @Test func everyOpusPacketIsTwentyMilliseconds() throws {
    let library = try Self.library.get()
    for prompt in Prompt.allCases {
      for packet in library.recording(prompt, .opus).packets {
        #expect(OpusPacket.inspect(packet)?.duration == 960)
        #expect(OpusPacket.inspect(packet)?.isStereo == false)
      }
    }
  }

  @Test func aPromptIsEncodedOnceForAllWhoAsk() async throws {
    let library = try PromptLibrary()
    let asked = await withTaskGroup(of: PromptRecording.self) { group in
      for _ in 0..<8 { group.addTask { library.recording(.goodbye, .g722) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    library.prepare()
    for one in asked { #expect(one === library.recording(.goodbye, .g722)) }
  }

  @Test func packetsAreAppended() throws {
    let recording = try Self.library.get().recording(.goodbye, .pcmu)
    let packet = PacketBuffer([1, 2, 3])
    #expect(recording.append(0, to: packet) && packet.bytes == [1, 2, 3] + recording.packets[0])
    #expect(!recording.append(recording.packets.count, to: packet) && !recording.append(-1, to: packet))
    packet.count = PacketBuffer.capacity - AudioEncoder.reserve - 159
    #expect(!recording.append(0, to: packet))
  }
}
