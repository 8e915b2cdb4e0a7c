import CallStory
import Testing

@Suite("What is kept of a call")
struct CallTraceTests {
  @Test("A dialog is known once")
  func dialogOnce() {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "t"))
    recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "t"))
    #expect(recorder.trace.dialogs.count == 1)
  }
}
