import CallModel
import SIPCore
import Testing

@Suite struct OutgoingCallTests {
  @Test func aCallIsPlacedRingsIsAnsweredAndHungUp() {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a [v=0 offer] [Contact: <sip:+15550199@198.51.100.1:5060;transport=tcp>]
      <- 100
      == trying
      <- 180 x
      == progress 180
      <- 200 x sdp
      -> ACK 1 a
      == established 'v=0 peer'
      <- 200 x sdp
      -> ACK 1 a
      hangup
      -> BYE 2 a
      == ended local
      <- 200 for BYE
      wait 64000
      """)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "\(ladder.agent.holdings)")
  }
}
