import CallEngine
import CallModel
import LedgerCore
import NodeCore

/// Schemas of bodies (JSON Schema 2020-12).
enum OpenAPISchemas {
  static func reference(_ name: String) -> JSONValue { .members([("$ref", .string("#/components/schemas/\(name)"))]) }

  private static let text = JSONValue.members([("type", .string("string"))])
  private static let integer = JSONValue.members([("type", .string("integer"))])
  private static let number = JSONValue.members([("type", .string("number"))])
  /// A value whose parts the page of a call knows.
  private static let anything = JSONValue.members([("type", .string("object"))])
  private static let flag = JSONValue.members([("type", .string("boolean"))])
  private static let time = JSONValue.members([("type", .string("string")), ("format", .string("date-time"))])
  private static let decimal = JSONValue.members([
    ("type", .string("string")), ("pattern", .string("^-?[0-9]+(\\.[0-9]+)?$")),
  ])

  private static func maybe(_ schema: JSONValue) -> JSONValue {
    .members([("anyOf", .array([schema, .members([("type", .string("null"))])]))])
  }
  private static func list(_ schema: JSONValue) -> JSONValue {
    .members([("type", .string("array")), ("items", schema)])
  }
  private static func choice(_ values: [String]) -> JSONValue {
    .members([("type", .string("string")), ("enum", .array(values.map { .string($0) }))])
  }

  /// An object with all of these members and, unless it is open, no others.
  private static func object(
    _ members: [(String, JSONValue)], optional: [(String, JSONValue)] = [], isOpen: Bool = false
  ) -> JSONValue {
    .members([
      ("type", .string("object")), ("properties", .members(members + optional)),
      ("required", .array(members.map { .string($0.0) })), ("additionalProperties", .boolean(isOpen)),
    ])
  }

  private static func money(_ name: String) -> [(String, JSONValue)] { [(name, decimal), (name + "_micro", integer)] }
  private static func maybeMoney(_ name: String) -> [(String, JSONValue)] {
    [(name, maybe(decimal)), (name + "_micro", maybe(integer))]
  }

  static func body(_ members: [RESTRoute.Member]) -> JSONValue {
    func schema(_ member: RESTRoute.Member) -> (String, JSONValue) {
      let schema =
        switch member.kind {
        case .text: text
        case .amount: decimal
        case .integer: integer
        case .flag: flag
        case .destination: reference("Destination")
        case .list: list(text)
        case .objects(let schema, _): list(reference(schema))
        case .texts: JSONValue.members([("type", .string("object")), ("additionalProperties", text)])
        }
      guard case .object(var object) = schema, schema.names.first != "$ref" else { return (member.name, schema) }
      object.append("description", .string(member.description))
      return (member.name, .object(object))
    }
    return object(members.filter { $0.isRequired }.map(schema), optional: members.filter { !$0.isRequired }.map(schema))
  }

  private static let recordingFormat = choice(RecordingFormat.allCases.map(\.rawValue))

  private static let callMembers: [(String, JSONValue)] =
    [
      ("id", text), ("environment", text), ("account", text), ("application", maybe(text)), ("user", maybe(text)),
      ("from", maybe(reference("Caller"))), ("kind", choice(Destination.Kind.allCases.map { $0.rawValue })),
      ("destination", text),
      ("state", choice(CallState.allCases.map { $0.rawValue })), ("started_at", time), ("answered_at", maybe(time)),
      ("trunk", maybe(text)), ("muted", list(choice(CallSide.allCases.map { $0.rawValue }))),
      ("on_hold", list(choice(CallSide.allCases.map { $0.rawValue }))), ("near_codec", maybe(text)),
      ("far_codec", maybe(text)),
    ] + money("held") + [
      ("currency", text), ("quality", maybe(reference("Quality"))), ("failure", maybe(reference("Failure"))),
      ("recording", maybe(reference("RunningRecording"))), ("guests", list(text)), ("guest_of", maybe(text)),
    ]

  private static let recordMembers: [(String, JSONValue)] =
    callMembers + [
      ("progressed_at", maybe(time)), ("rung_at", maybe(time)), ("established_at", maybe(time)), ("ended_at", time),
      ("cause", choice(CallEndCause.allCases.map { $0.rawValue })), ("duration_ms", integer),
      ("billed_seconds", integer),
    ] + maybeMoney("cost") + [
      ("caller_number", maybe(text)), ("attempts", list(reference("Attempt"))), ("sip_call_id", maybe(text)),
      ("mean_score_near", maybe(number)), ("mean_score_far", maybe(number)),
      ("client_statistics", .members([("type", .string("object")), ("additionalProperties", number)])),
      ("story", list(object([("milliseconds", integer), ("text", text)]))), ("flags", list(text)),
    ]

  static let all: [(String, JSONValue)] = [
    (
      "Problem",
      object(
        [
          ("type", text), ("title", text), ("status", integer), ("detail", text), ("code", text), ("retryable", flag),
        ],
        optional: [
          ("instance", text), ("fix", text), ("call_id", text), ("sip_status", integer), ("position", integer),
          ("member", text), ("parameter", text), ("rule", text), ("refusal", text), ("development", flag),
        ])
    ),
    (
      "Account",
      object(
        [
          ("account", text), ("kind", choice([AccountKind.prepaid.rawValue, AccountKind.postpaid.rawValue])),
          ("currency", text), ("status", choice(AccountStatus.allCases.map { $0.rawValue })),
          ("lock_reason", maybe(text)),
        ] + money("posted") + money("held") + money("available") + money("credit_limit") + [
          ("open_calls", integer), ("plan", maybe(text)), ("zone", text), ("created_at", time),
        ])
    ),
    ("AccountPage", object([("accounts", list(reference("Account"))), ("next", maybe(text))])),
    ("AccountChange", object([("seq", integer), ("account", text), ("change", text), ("key", text)])),
    (
      "HistoryEntry",
      object(
        [("seq", integer), ("time", time), ("kind", choice(TransferKind.allCases.map { $0.rawValue }))]
          + money("amount") + money("balance") + [
            ("currency", text), ("counterpart", maybe(text)), ("call", maybe(text)), ("destination", maybe(text)),
            ("duration_ms", maybe(integer)), ("billed_seconds", maybe(integer)), ("rate", maybe(decimal)),
            ("rate_nano", maybe(integer)), ("reason", maybe(text)), ("reverses", maybe(integer)), ("key", text),
            ("actor", text), ("detail", text), ("postings", list(reference("Posting"))),
          ])
    ),
    (
      "Posting",
      object([("account", text)] + money("amount") + maybeMoney("balance"))
    ),
    (
      "Spend",
      object([
        ("account", text), ("currency", text),
        ("days", list(object([("date", text)] + money("spent") + [("calls", maybe(integer))]))),
      ])
    ),
    (
      "NumberHint",
      object(
        [
          ("target", text), ("canonical", maybe(text)), ("is_valid", flag), ("description", maybe(text)),
          ("region", maybe(text)), ("is_test", flag), ("test", maybe(text)),
          (
            "price",
            maybe(
              object(
                [("destination", text), ("per_minute", decimal), ("per_minute_nano", integer)] + money("fee") + [
                  ("initial_seconds", integer), ("increment_seconds", integer), ("currency", text),
                ]))
          ),
        ] + maybeMoney("available") + [
          ("seconds_available", maybe(integer)),
          ("refusal", maybe(object([("code", text), ("message", text)]))),
          (
            "problem",
            maybe(object([("message", text), ("accepted", text), ("position", maybe(integer))]))
          ),
        ])
    ),
    (
      "HistoryPage",
      object([
        ("account", text), ("currency", text), ("entries", list(reference("HistoryEntry"))), ("next", maybe(text)),
      ])
    ),
    (
      "Movement",
      object(
        [
          ("seq", integer), ("account", text), ("kind", choice(["topup", "refund", "adjust", "transfer"])),
          ("currency", text),
        ] + money("amount") + money("balance") + [("key", text)])
    ),
    (
      "Destination",
      object([("kind", choice(Destination.Kind.allCases.map { $0.rawValue })), ("target", text)])
    ),
    (
      "Caller",
      object([
        ("kind", text), ("value", text), ("name", text), ("verified", text), ("why", maybe(text)),
        ("diverted_by", maybe(text)),
      ])
    ),
    (
      "Direction",
      object([("mos", maybe(number)), ("jitter_ms", maybe(number)), ("loss", maybe(number)), ("packets", integer)])
    ),
    (
      "Quality",
      object([
        ("sent", reference("Direction")), ("received", reference("Direction")), ("round_trip_ms", maybe(number)),
      ])
    ),
    (
      "Failure",
      object([
        ("code", choice(CallFailureCode.allCases.map { $0.rawValue })), ("domain", text), ("message", text),
        ("refusal", maybe(text)), ("sip_status", maybe(integer)), ("phrase", maybe(text)), ("cause", maybe(integer)),
        ("retry", choice(RetryAdvice.allCases.map { $0.rawValue })), ("retry_after", maybe(integer)),
        ("trunk", maybe(text)), ("warning", maybe(text)), ("redress", maybe(reference("Redress"))),
      ])
    ),
    ("Redress", object([("network", maybe(text)), ("url", maybe(text)), ("telephone", maybe(text))])),
    (
      "Attempt",
      object([
        ("trunk", text), ("started_at", time), ("ended_at", time), ("sip_status", maybe(integer)),
        ("code", maybe(text)),
      ])
    ),
    ("LiveCall", object(callMembers)),
    ("CallRecord", object(recordMembers)),
    ("Call", .members([("oneOf", .array([reference("LiveCall"), reference("CallRecord")]))])),
    (
      "Story",
      object([
        ("call", text), ("environment", text), ("account", text), ("kind", text), ("destination", text),
        ("is_live", flag), ("state", text), ("started_at", time), ("conclusion", text),
        (
          "findings",
          list(
            object([
              ("rule", text), ("title", text), ("explanation", text), ("evidence", list(text)), ("owner", text),
              ("fixes", list(text)), ("confidence", integer),
            ]))
        ),
        ("timing", list(anything)), ("lanes", list(anything)), ("ladder", list(anything)),
        ("descriptions", list(anything)), ("media", list(anything)), ("quality", list(anything)),
        ("attempts", list(anything)), ("gaps", list(text)),
      ])
    ),
    ("CallPage", object([("calls", list(reference("CallRecord"))), ("next", maybe(text))])),
    ("LiveCalls", object([("calls", list(reference("LiveCall")))])),
    ("PlacedCall", object([("id", text)])),
    ("Said", object([("duration_ms", integer)])),
    (
      "RunningRecording",
      object([
        ("id", text), ("format", recordingFormat), ("started_at", time), ("paused", flag), ("announced", flag),
        ("tone", flag), ("tracks", flag), ("by_app", flag),
      ])
    ),
    (
      "Recording",
      object([
        ("id", text), ("call", maybe(text)), ("conference", maybe(text)), ("application_key", maybe(text)),
        ("account", text), ("format", recordingFormat), ("channels", integer), ("started_at", time),
        ("state", choice(Recording.State.allCases.map(\.rawValue))), ("duration_ms", integer), ("bytes", integer),
      ])
    ),
    ("RecordingPage", object([("recordings", list(reference("Recording"))), ("next", maybe(text))])),
    (
      "Balances",
      object(
        [("account", text), ("currency", text), ("from", time), ("to", time), ("complete", flag)] + [
          ("points", list(object([("at", time)] + money("posted") + money("held"))))
        ])
    ),
    (
      "Trunks",
      object([
        (
          "trunks",
          list(
            object([
              ("name", text), ("uri", text), ("standing", text), ("explanation", text), ("live_calls", integer),
              ("maximum_calls", maybe(integer)), ("attempts", integer), ("answered", integer),
              ("answer_ratio", maybe(number)), ("average_duration_seconds", maybe(number)),
              ("window_seconds", integer),
              (
                "failures",
                list(
                  object([
                    ("code", choice(CallFailureCode.allCases.map { $0.rawValue })), ("sip_status", maybe(integer)),
                    ("count", integer), ("last_at", time),
                  ]))
              ), ("options_ms", maybe(number)),
              (
                "hours",
                list(
                  object([
                    ("starts_at", time), ("attempts", integer), ("answered", integer), ("answer_ratio", maybe(number)),
                    ("options_sent", integer), ("options_answered", integer), ("options_mean_ms", maybe(number)),
                    ("options_worst_ms", maybe(number)),
                  ]))
              ),
            ]))
        )
      ])
    ),
    (
      "NumberTarget",
      object(
        [("kind", choice(InboundNumber.Target.kinds.map(\.rawValue))), ("target", text)],
        optional: [
          (
            "ring_seconds",
            .members([
              ("type", .string("integer")), ("minimum", .integer(Int64(InboundNumber.Target.ringSeconds.lowerBound))),
              ("maximum", .integer(Int64(InboundNumber.Target.ringSeconds.upperBound))),
            ])
          ), ("on", list(choice(InboundNumber.Outcome.allCases.map(\.rawValue)))),
        ])
    ),
    (
      "Number",
      object([
        ("number", text), ("application", maybe(text)), ("application_key", maybe(text)), ("account", text),
        ("active", flag), ("targets", list(reference("NumberTarget"))),
        (
          "no_answer",
          .members([
            ("type", .string("integer")),
            ("enum", .array(InboundNumber.noAnswerStatuses.sorted().map { .integer(Int64($0)) })),
          ])
        ), ("channels", maybe(integer)), ("answer_first", flag), ("refuse_anonymous", flag),
        ("blocked", list(text)), ("record", maybe(recordingFormat)), ("record_announced", maybe(flag)),
        ("record_tone", maybe(flag)),
        ("configured_at", maybe(text)),
        ("live_calls", integer),
      ])
    ),
    ("NumberPage", object([("numbers", list(reference("Number"))), ("next", maybe(text))])),
    (
      "DeskPhone",
      object([
        ("name", text), ("user", text), ("application", text), ("application_key", text), ("account", maybe(text)),
        ("country", maybe(integer)),
        (
          "registrations",
          list(
            object([
              ("address", text), ("contact", text), ("expires_in_seconds", integer), ("user_agent", text),
            ]))
        ), ("configured_at", maybe(text)), ("password", maybe(text)),
      ])
    ),
    ("DeskPhonePage", object([("desk_phones", list(reference("DeskPhone"))), ("next", maybe(text))])),
    (
      "Participant",
      object([
        ("participant", integer), ("call", text), ("from", reference("Caller")), ("since", time), ("muted", flag),
        ("self_muted", flag), ("deaf", flag), ("speaking", flag), ("leads", flag),
        ("level_dbov", maybe(integer)), ("quality", maybe(reference("Direction"))), ("round_trip_ms", maybe(number)),
        ("keys", text),
      ])
    ),
    (
      "Conference",
      object([
        ("id", text), ("application", text), ("application_key", text), ("account", maybe(text)), ("since", time),
        ("locked", flag), ("tones", flag), ("keys", choice(RoomKeys.allCases.map(\.rawValue))),
        ("recording", maybe(reference("RunningRecording"))),
        ("participants", list(reference("Participant"))),
      ])
    ),
    ("Conferences", object([("conferences", list(reference("Conference")))])),
    (
      "Status",
      object([
        ("version", text), ("node", text), ("started_at", time), ("ready", flag), ("draining", flag),
        ("live_calls", integer), ("sessions", integer), ("problems", list(text)),
      ])
    ),
    (
      "Person",
      object([
        ("role", choice(["operator", "owner", "application"])), ("environment", text), ("account", maybe(text)),
        ("actor", text), ("development", flag), ("phone", flag), ("payer", maybe(text)), ("currency", maybe(text)),
      ])
    ),
    ("Visitor", object([("me", maybe(reference("Person"))), ("development", flag)])),
    (
      "UserPresence",
      object([
        ("application", text), ("user", text), ("presence", choice(UserPresence.allCases.map(\.rawValue))),
      ])
    ),
    (
      "PhoneRegistration",
      object([
        ("application_key", text), ("user", text), ("device", text), ("token", text), ("expires_at", time),
        ("account", text),
      ])
    ),
    ("Health", object([("status", text), ("problems", list(text))])),
  ]
}
