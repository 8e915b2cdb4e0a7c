import SIPCore
import Testing

/// Key presses in INFO as gear writes them.
@Suite struct DTMFInfoTests {
  private static func key(_ key: Character, _ duration: Int) -> DTMFInfo.Reading {
    DTMFInfo(key: key, durationMilliseconds: duration).map(DTMFInfo.Reading.key) ?? .malformed
  }

  @Test(arguments: [
    ("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", key("5", 160)),
    ("application/dtmf-relay", "Signal= 5\r\nDuration= 250\r\n", key("5", 250)),
    ("application/dtmf-relay", "signal : #\nduration : 100", key("#", 100)),
    ("Application/DTMF-Relay; charset=utf-8", "Signal=d\r\n", key("D", 160)),
    ("application/dtmf-relay", "Duration=20\r\nSignal=*\r\n\r\n", key("*", 40)),
    ("application/dtmf-relay", "Signal=1\r\nDuration=99999", key("1", 8_000)),
    ("application/dtmf-relay", "Signal=1\r\nDuration=-5", key("1", 160)),
    ("application/dtmf-relay", "Signal=10\r\n", key("*", 160)),
    ("application/dtmf-relay", "Signal=15\r\n", key("D", 160)),
    ("application/dtmf", "7", key("7", 160)),
    ("application/dtmf", " #\r\n", key("#", 160)),
    ("application/dtmf", "Signal=3\r\nDuration=90", key("3", 90)),
    ("application/dtmf-relay", "Signal=16\r\n", .malformed),
    ("application/dtmf-relay", "Signal=flash\r\nDuration=160\r\n", .malformed),
    ("application/dtmf-relay", "Signal=E\r\n", .malformed),
    ("application/dtmf-relay", "Signal=\r\n", .malformed),
    ("application/dtmf-relay", "Signal=1\r\nSignal=2\r\n", .malformed),
    ("application/dtmf-relay", "5", .malformed),
    ("application/dtmf", "", .malformed),
    ("application/dtmf", "16", .malformed),
    ("application/dtmf", "hello", .malformed),
    ("application/dtmf-relay", "Signal=1\r\n" + String(repeating: "x", count: 300), .malformed),
    ("application/media_control+xml", "<xml/>", .unsupportedMediaType),
    ("text/plain", "5", .unsupportedMediaType),
  ])
  func `bodies`(_ type: String, _ text: String, _ reading: DTMFInfo.Reading) {
    #expect(DTMFInfo.read(MessageBody(contentType: type, bytes: Array(text.utf8))) == reading)
  }

  @Test func `no body is malformed, and what we write reads back`() throws {
    #expect(DTMFInfo.read(nil) == .malformed)
    for character in "0123456789*#ABCD" {
      let info = try #require(DTMFInfo(key: character, durationMilliseconds: 200))
      #expect(DTMFInfo.read(info.body) == .key(info))
    }
    #expect(DTMFInfo(key: "E") == nil)
    #expect(DTMFInfo(key: "é") == nil)
    #expect(DTMFInfo(key: "a")?.key == "A")
  }
}
