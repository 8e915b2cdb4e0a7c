/// Every figure that the gateway counts of itself. Names follow Prometheus' conventions; no user, number or call is a label.
public enum LandlineMetric: String, Hashable, Sendable, CaseIterable {
  case callsStarted = "landline_calls_started"
  case callsEnded = "landline_calls_ended"
  case velocityReached = "landline_velocity_reached"
  case liveCalls = "landline_live_calls"
  case sessions = "landline_sessions"
  case connections = "landline_connections"
  case appMessages = "landline_app_messages"
  case appRefusedProofs = "landline_app_refused_proofs"
  case ledgerOperation = "landline_ledger_operation"
  case ledgerFailures = "landline_ledger_failures"
  case sipMessages = "landline_sip_messages"
  case sipDropped = "landline_sip_dropped"
  case sipRefused = "landline_sip_refused"
  case trunkUp = "landline_trunk_up"
  case trunkLiveCalls = "landline_trunk_live_calls"
  case eventLoopLag = "landline_event_loop_lag"
  case admissionOpen = "landline_admission_open"
  case overloadRefusals = "landline_overload_refusals"
  case mediaPackets = "landline_media_packets"
  case mediaDropped = "landline_media_dropped_packets"
  case roomFramesLeftOut = "landline_conference_frames_left_out"
  case mediaLegs = "landline_media_legs"
  case recordings = "landline_recordings"
  case recordingBytes = "landline_recording_bytes"
  case recordingsEnded = "landline_recordings_ended"
  case httpRequests = "landline_http_requests"
  case httpRequest = "landline_http_request"
  case httpRefusedProofs = "landline_http_refused_proofs"
  case httpThrottledHosts = "landline_http_throttled_hosts"
  case ready = "landline_ready"
  case draining = "landline_draining"
  case seriesDropped = "landline_metrics_dropped_series"

  /// A counter only grows, a gauge goes up and down, and a timer is written as a histogram of seconds.
  public enum Kind: Hashable, Sendable { case counter, gauge, timer }

  /// Also decides the written name: counters end in `_total`, timers in `_seconds`.
  public var kind: Kind {
    switch self {
    case .callsStarted, .callsEnded, .velocityReached, .appMessages, .appRefusedProofs, .ledgerFailures, .sipMessages,
      .sipDropped, .sipRefused, .mediaPackets, .mediaDropped, .roomFramesLeftOut, .httpRequests, .seriesDropped,
      .overloadRefusals, .httpRefusedProofs, .httpThrottledHosts, .recordingsEnded:
      .counter
    case .ledgerOperation, .eventLoopLag, .httpRequest: .timer
    case .liveCalls, .sessions, .connections, .trunkUp, .trunkLiveCalls, .mediaLegs, .ready, .draining,
      .admissionOpen, .recordings, .recordingBytes:
      .gauge
    }
  }

  /// The text after `# HELP` in what Prometheus reads.
  public var help: String {
    switch self {
    case .callsStarted: "Calls that were asked for, by environment and kind."
    case .callsEnded: "Calls that are over, by environment and failure code; code is none where nothing failed."
    case .velocityReached:
      "Times that an account or user reached a rule of what may be done within an hour, by the rule; once an hour each."
    case .liveCalls: "Calls that are up or being set up, by environment."
    case .sessions: "Sessions of apps."
    case .connections: "Open connections of the HTTP port, WebSockets included."
    case .appMessages: "Messages of apps, by direction."
    case .appRefusedProofs: "Proofs of apps over WebSocket that were refused: their registrations."
    case .ledgerOperation: "Time until the ledger's durable answer, by step."
    case .ledgerFailures: "Questions that the ledger gave no answer to, by cause."
    case .sipMessages: "SIP messages, by direction, method and class of status."
    case .sipDropped: "SIP messages dropped before they were read, by reason."
    case .sipRefused: "SIP messages of known hosts that could not be read, by broken rule and whether a response."
    case .trunkUp: "Whether a trunk takes calls: 1 or 0."
    case .trunkLiveCalls: "Calls on a trunk."
    case .eventLoopLag: "How late the signalling loop comes to what is due."
    case .admissionOpen: "Whether any number of calls may begin: 0 while the gateway has more to do than it can."
    case .overloadRefusals: "Calls refused because the gateway had more to do than it could."
    case .mediaPackets: "Media packets, by direction."
    case .mediaDropped: "Media packets dropped, by reason."
    case .roomFramesLeftOut: "Frames of 20 ms of all conferences of a thread that were not mixed: it came too late."
    case .mediaLegs: "Legs with media ports."
    case .recordings: "Calls and conferences that are being recorded, by environment."
    case .recordingBytes: "Bytes that recordings take on the disk, by environment."
    case .recordingsEnded: "Recordings that are over or could not begin, by environment and state."
    case .httpRequests: "HTTP requests, by route, method and status."
    case .httpRequest: "Time to answer an HTTP request, by route."
    case .httpRefusedProofs: "Proofs over HTTP that were refused: wrong keys and signatures."
    case .httpThrottledHosts: "Times that a host began to ask more often than it may."
    case .ready: "Whether the gateway takes new calls: 1 or 0."
    case .draining: "Whether the gateway is draining: 1 or 0."
    case .seriesDropped: "Series that were not kept because their metric has too many."
    }
  }
}
