/// Every class of call failures, in one table. Codes are stable: rows are added, never renamed.
public enum CallFailureCatalogue {
  /// One row for each ``CallFailureCode``. Of two rows that list one status or cause, the first has it by itself, but
  /// 487 always means ``CallFailureCode/cancelled``.
  public static let rows: [CallFailureClass] = [
    // MARK: SIP
    CallFailureClass(
      .busy, .sip, "busy", statuses: [486, 600], causes: [17], .denied, .later,
      "The called party is in another call.",
      likely: ["the line is in use", "the called device allows one call at a time"],
      remedies: ["call again later"]),
    CallFailureClass(
      .declined, .sip, "declined", statuses: [603], causes: [21], .denied, .never,
      "The called party or its network declined the call.",
      likely: [
        "somebody pressed decline", "the caller is on the called party's block list",
        "the trunk limits new calls a second and answers 603",
      ],
      remedies: ["reach the called party another way", "compare the time with the trunk's limit of calls a second"]),
    CallFailureClass(
      .blocked, .sip, "blocked by analytics", statuses: [603, 607, 608], causes: [21], .denied, .never,
      "A network on the way, or the called party's list of unwanted callers, blocked the call; nobody was asked.",
      likely: ["the caller's number has a bad reputation", "many short calls from the same number"],
      remedies: [
        "use the redress address of the failure, where there is one", "sign calls with a verified caller number",
      ]),
    CallFailureClass(
      .unallocated, .sip, "no such number", statuses: [404, 484, 485, 604], causes: [1, 22, 28], .error, .never,
      "The number or address does not exist, is incomplete or has changed.",
      likely: ["a mistyped number", "a missing country code or digit", "the number has been given up"],
      remedies: ["check the number", "write it with + and the country code"]),
    CallFailureClass(
      .unreachable, .sip, "not reachable", statuses: [408, 410, 480], causes: [18, 20, 31], .noAnswer, .later,
      "The called party exists but cannot be reached now.",
      likely: ["the phone is off or out of coverage", "no device is registered", "the address is gone for good (410)"],
      remedies: ["call again later"]),
    CallFailureClass(
      .noAnswer, .sip, "no answer", statuses: [408, 480, 487], causes: [19], .noAnswer, .later,
      "Nobody answered in the time that the call may ring.",
      likely: ["nobody is there", "the ring time is shorter than the called party needs"],
      remedies: ["call again later", "raise the ring time"]),
    CallFailureClass(
      .cancelled, .sip, "cancelled", statuses: [487], causes: [16], .canceled, .notNeeded,
      "The caller gave up before the call was answered.",
      likely: ["the caller hung up while it rang"],
      remedies: ["none needed"]),
    CallFailureClass(
      .trunkAuth, .sip, "trunk refuses us", statuses: [401, 402, 403, 407], causes: [57, 21], .error, .afterOperator,
      "The trunk does not let this gateway place the call.",
      likely: [
        "wrong trunk credentials", "the gateway's address is not on the trunk's access list",
        "the destination is not enabled on the trunk", "the operator's account at the carrier is empty",
      ],
      remedies: ["check the trunk's credentials and access list", "enable the destination with the carrier"]),
    CallFailureClass(
      .identity, .sip, "caller identity refused", statuses: [428, 429, 433, 436, 437, 438], .error, .afterOperator,
      "The other side wants a caller identity that it can verify, or refused the one it got.",
      likely: [
        "calls are not signed", "the signing certificate has expired", "the clocks differ",
        "anonymous calls are refused",
      ],
      remedies: ["sign outgoing calls", "renew the certificate", "check the gateway's clock", "show a caller number"]),
    CallFailureClass(
      .media, .sip, "media not agreed", statuses: [406, 415, 488, 606], causes: [65, 88], .error, .otherCodec,
      "The two sides found no common codec or media transport.",
      likely: ["the trunk takes G.711 only", "one side insists on encryption and the other has none"],
      remedies: ["allow another codec on the trunk", "set the trunk's encryption to what it offers"]),
    CallFailureClass(
      .negotiation, .sip, "session terms", statuses: [420, 421, 422, 423, 494], .error, .byGateway,
      "The other side wants other session terms: an extension, a timer or a security agreement.",
      likely: ["a required extension is missing", "the session timer is too short"],
      remedies: ["none for the user: the gateway repeats the call with the terms asked for"]),
    CallFailureClass(
      .congestion, .sip, "congestion", statuses: [480, 500, 502, 503, 504], causes: [34, 38, 41, 42, 44, 47], .error,
      .nextTrunk,
      "The network has no capacity or a fault for the moment.",
      likely: ["all channels of the trunk are busy", "a fault in the carrier's network", "480 with Retry-After"],
      remedies: ["wait for Retry-After", "add a second trunk"]),
    CallFailureClass(
      .transport, .sip, "transport", causes: [3], .error, .nextTrunk,
      "The trunk gave no answer at all, or no connection to it could be made.",
      likely: ["the trunk is down", "its name does not resolve", "TLS failed", "a firewall drops the packets"],
      remedies: ["check the trunk's address and port", "check TLS names and dates", "add a second trunk"]),
    CallFailureClass(
      .redirect, .sip, "redirected", statuses: [300, 301, 302, 305, 380], causes: [23], .error, .never,
      "The other side named another destination, which the gateway does not follow.",
      likely: ["call forwarding by the trunk", "the number has moved"],
      remedies: ["call the new destination"]),
    CallFailureClass(
      .request, .sip, "request refused", .error, .afterOperator,
      "The other side refused the request with a 4xx status that has no class of its own.",
      likely: ["the peer does not take something in the request", "a loop between two peers (482, 483)"],
      remedies: ["read the status, the phrase and the Warning", "compare with the peer's interface description"]),
    CallFailureClass(
      .server, .sip, "peer failure", .error, .nextTrunk,
      "The other side failed with a 5xx status that has no class of its own.",
      likely: ["a function that the peer lacks (501)", "a fault inside the peer"],
      remedies: ["try again later", "add a second trunk"]),
    CallFailureClass(
      .global, .sip, "refused everywhere", .denied, .never,
      "Every place of the called party refused with a 6xx status that has no class of its own.",
      likely: ["a rule of the called party's network"],
      remedies: ["read the status and the phrase"]),
    CallFailureClass(
      .protocolBroken, .sip, "protocol broken", causes: [111], .error, .afterOperator,
      "The other side answered, and its answer cannot be used: it is not what SIP says.",
      likely: ["a response that breaks a rule, which the warning names", "an answer without Contact", "a faulty peer"],
      remedies: ["capture the exchange and show it to the peer's operator"]),

    // MARK: Network
    CallFailureClass(
      .networkUnreachable, .network, "gateway not reached", .error, .now,
      "The app could not connect to the gateway.",
      likely: ["no network", "a captive portal or firewall", "the gateway's name does not resolve"],
      remedies: ["check the connection and send again"]),
    CallFailureClass(
      .networkTimeout, .network, "gateway silent", .timeout, .now,
      "The gateway did not answer the app in time.",
      likely: ["a slow or lossy network", "an overloaded gateway"],
      remedies: ["send again"]),
    CallFailureClass(
      .networkSecurity, .network, "connection not secure", .error, .afterFix,
      "The app and the gateway could not agree on a trusted encrypted connection.",
      likely: ["an expired or wrong certificate", "a proxy that opens TLS", "a wrong clock on the device"],
      remedies: ["check the device's clock", "renew the gateway's certificate"]),
    CallFailureClass(
      .networkLost, .network, "connection lost", .error, .now,
      "The connection between app and gateway broke and was not resumed in time.",
      likely: ["a change of network", "the app was suspended"],
      remedies: ["call again"]),
    CallFailureClass(
      .networkMedia, .network, "no media path", .error, .afterFix,
      "No way for sound was found between the app's device and the gateway's media port (ICE over UDP, then DTLS).",
      likely: [
        "a firewall or VPN on the app's network stops UDP",
        "the gateway names an address that the app's network does not reach",
        "the browser gathers no address of the device, as Firefox on a computer without a network",
      ],
      remedies: [
        "let UDP out to the gateway's media port, or call from another network",
        "set media.app[].advertise to an address that apps reach",
        "in Firefox without a network: media.peerconnection.ice.loopback = true in about:config, and the microphone allowed",
      ]),

    // MARK: Capability
    CallFailureClass(
      .capabilityRemote, .capability, "other side cannot", sipStatus: 480, .error, .never,
      "The other side has no device that supports what was asked for: calls, video or messages.",
      likely: ["the user never signed in with calling", "an old version of the app"],
      remedies: ["ask the other side to update or to enable it"]),
    CallFailureClass(
      .capabilityLocal, .capability, "this client cannot", .error, .afterFix,
      "This client was started without the capability that was asked for.",
      likely: ["calling or messaging is not enabled at start"],
      remedies: ["enable the capability before the client starts"]),

    // MARK: Users
    CallFailureClass(
      .userBusy, .gateway, "user busy", sipStatus: 486, .denied, .later,
      "Each device of the called user that could ring is in another call, or somebody said so.",
      likely: ["the user is in a call", "the user's busy rule lets no second call ring"],
      remedies: ["call again later"]),
    CallFailureClass(
      .userDeclined, .gateway, "user declined", sipStatus: 603, .denied, .never,
      "Somebody declined the call on a device of the called user.",
      likely: ["somebody pressed decline"],
      remedies: ["reach the user another way"]),
    CallFailureClass(
      .userNoAnswer, .gateway, "user does not answer", sipStatus: 480, .noAnswer, .later,
      "The devices of the called user rang, and nobody answered in time.",
      likely: ["nobody is there", "the app rings where nobody hears it"],
      remedies: ["call again later"]),
    CallFailureClass(
      .userUnreachable, .gateway, "user not reachable", sipStatus: 480, .noAnswer, .later,
      "No device of the called user listens for calls now.",
      likely: ["the user's app is closed", "the device has no network", "the app has stopped listening"],
      remedies: ["call again later", "open the app on the called side"]),
    CallFailureClass(
      .userUnknown, .gateway, "no such user", sipStatus: 404, .error, .never,
      "No device has ever registered as the called user of this application.",
      likely: ["a mistyped user id", "the user belongs to another application", "the user has never signed in"],
      remedies: ["check the user id"]),
    CallFailureClass(
      .numberUnknown, .gateway, "number not ours", sipStatus: 404, .error, .afterOperator,
      "A trunk sent a call for a number that no row of the number table has, or whose row is not active.",
      likely: ["the number has no row yet", "the trunk writes numbers in another way", "the row is switched off"],
      remedies: ["add it: landline number set NUMBER --user USER", "set the trunk's inbound numbers to what it writes"]),
    CallFailureClass(
      .numberUnserved, .gateway, "number leads nowhere", sipStatus: 480, .noAnswer, .afterOperator,
      "The called number is ours, and its row names nobody who could be called.",
      likely: ["the row has no target", "a target is a user and the row has no application"],
      remedies: ["give it a target: landline number set NUMBER --user USER"]),
    CallFailureClass(
      .roomFull, .gateway, "conference full", sipStatus: 486, .error, .later,
      "The conference has as many participants as it may have.",
      likely: ["everybody is in it", "apps that crashed are still counted until their calls end"],
      remedies: ["try again when somebody has left"]),
    CallFailureClass(
      .roomLocked, .gateway, "conference locked", sipStatus: 403, .denied, .later,
      "An operator has locked the conference: nobody comes in by themselves.",
      likely: ["all who were to be in it are there"],
      remedies: ["ask somebody who is in it, or an operator: landline conference lock ID --off"]),
    CallFailureClass(
      .kicked, .gateway, "taken out of the conference", .hungUp, .afterFix,
      "An operator took this participant out of the conference, which goes on.",
      likely: ["somebody asked for it", "its sound disturbed the others"],
      remedies: ["ask whoever runs the conference"]),
    CallFailureClass(
      .callerRefused, .gateway, "caller turned away", sipStatus: 603, .denied, .never,
      "The called number turns this caller away: its number is blocked, or it withholds it; or the trunk wants signed callers, and this one is not.",
      likely: [
        "the caller's number is on the block list", "the number takes no anonymous calls",
        "the signature of the caller does not hold, and the trunk's calls need one",
      ],
      remedies: [
        "take the caller off the number's block list", "let the number take anonymous calls",
        "set the trunk's stir to verify",
      ]),
    CallFailureClass(
      .forwardLoop, .gateway, "forwarded in a loop", sipStatus: 482, .error, .afterOperator,
      "The call was forwarded too often: a number forwards, over others, to itself.",
      likely: ["two numbers forward to each other", "the phone it is forwarded to forwards back"],
      remedies: ["look at the targets of each number on the way: landline number show NUMBER"]),
    CallFailureClass(
      .tooLate, .gateway, "too late", .canceled, .notNeeded,
      "The call rings no longer on this device: somebody was first, or whoever called is gone.",
      likely: ["another device answered", "the caller hung up at the same moment", "the time to ring was over"],
      remedies: ["none needed: the end of the call says which"]),
    CallFailureClass(
      .transfer, .gateway, "no transfer now", .error, .afterFix,
      "The call cannot be transferred as it stands, and is as it was before.",
      likely: [
        "it was not answered yet", "another transfer of it is under way", "the other side is the gateway's own voice",
      ],
      remedies: ["wait for the answer, or take the other transfer back"]),
    CallFailureClass(
      .recording, .gateway, "no recording now", .error, .afterFix,
      "The call or conference cannot be recorded as it stands; it goes on.",
      likely: [
        "it is recorded already, or no more", "it is not answered yet", "recordings have no room left on the disk",
        "it is a call in a conference, which is recorded as a whole",
      ],
      remedies: [
        "end the recording that runs, or wait for the answer", "delete recordings, or raise 'recording-space'",
        "landline recording start conf:ID for a call in a conference",
      ]),
    CallFailureClass(
      .saying, .gateway, "nothing said now", .error, .afterFix,
      "Nothing can be said in the call or conference as it stands; it goes on.",
      likely: [
        "it is not answered yet", "a side waits with a tone", "it is being transferred",
        "it is a call in a conference, where all hear what is said",
      ],
      remedies: ["wait for the answer, or take the side back"]),
    CallFailureClass(
      .crossed, .gateway, "calls crossed", sipStatus: 491, .error, .notNeeded,
      "The called user is calling this device at the same moment; the message names that call.",
      likely: ["both called each other at once"],
      remedies: ["answer the call that comes in"]),

    // MARK: Gateway
    CallFailureClass(
      .funds, .gateway, "not enough credit", refusals: [.insufficientCredit], sipStatus: 402, .error, .afterFix,
      "The account has no credit for the first or the next stretch of the call.",
      likely: ["the balance is used up", "open calls hold the rest"],
      remedies: ["top up the account", "end another call"]),
    CallFailureClass(
      .rate, .gateway, "no price", refusals: [.noRate], sipStatus: 403, .error, .afterOperator,
      "The account's price list has no rate for the destination.",
      likely: ["the destination is missing in the rate deck", "the rate is not yet or no longer valid"],
      remedies: ["import a deck that holds the destination"]),
    CallFailureClass(
      .policy, .gateway, "not allowed",
      refusals: [.destinationBlocked, .countryNotAllowed, .rateTooHigh, .accountLocked, .accountClosed], sipStatus: 403,
      .error, .afterFix,
      "A rule of the account or of the gateway forbids the call.",
      likely: [
        "the destination or country is blocked", "the price passes the account's limit",
        "the account is locked or closed", "the caller's number is not one of the application's",
      ],
      remedies: ["change the rule", "unlock the account", "show a number that belongs to the application, or none"]),
    CallFailureClass(
      .limit, .gateway, "cap reached",
      refusals: [.concurrencyCap, .rateCap, .dailyCap, .callCap, .durationCap, .hourlyCap],
      sipStatus: 403,
      .error, .later,
      "The account has reached one of its caps; the Reason header names it.",
      likely: [
        "too many calls at once", "too many new calls a second", "the spending cap of the day", "the cap of one call",
        "the longest duration of a call", "the calls or the spending of an hour",
      ],
      remedies: ["end a call or wait", "raise the cap"]),
    CallFailureClass(
      .noRoute, .gateway, "no route", refusals: [.noProfitableRoute], sipStatus: 503, .error, .afterOperator,
      "No trunk carries the destination at a cost below its price.",
      likely: ["every route costs more than it earns", "all trunks of the destination are down"],
      remedies: ["add a trunk", "change the price"]),
    CallFailureClass(
      .billing, .gateway, "billing unavailable", refusals: [.billingUnavailable], sipStatus: 503, .error, .later,
      "The ledger cannot be asked now, so no paid call can start.",
      likely: ["the database is down, full or locked"],
      remedies: ["check the ledger's database", "call again later"]),
    CallFailureClass(
      .currency, .gateway, "currencies differ", refusals: [.currencyMismatch], sipStatus: 500, .error, .afterOperator,
      "The account and its price list have different currencies.",
      likely: ["a deck of another currency was assigned"],
      remedies: ["assign a plan in the account's currency"]),
    CallFailureClass(
      .account, .gateway, "account missing", refusals: [.unknownAccount], sipStatus: 403, .error, .afterOperator,
      "The account that pays for the application's calls is not in the ledger; numbers that are free work without it.",
      likely: [
        "the account was never created",
        "the application's environment has another ledger than the one that was filled",
      ],
      remedies: ["create the account: landline account create NAME --currency EUR", "landline serve --check names it"]),
    CallFailureClass(
      .number, .gateway, "bad phone number", sipStatus: 484, .error, .afterFix,
      "The text is not a phone number in international form.",
      likely: ["spaces or punctuation", "no + or country code"],
      remedies: ["write + and digits, such as +46701234567"]),
    CallFailureClass(
      .address, .gateway, "bad address", sipStatus: 400, .error, .afterFix,
      "The text is not a SIP address, user id or conference id.",
      likely: ["a missing domain", "a space or a character outside ASCII", "too long"],
      remedies: ["write user@domain, or an id of printable ASCII"]),
    CallFailureClass(
      .header, .gateway, "bad custom header", sipStatus: 400, .error, .afterFix,
      "A custom header breaks the rules; the message names it.",
      likely: ["the name does not start with x-", "a line break in the value", "more than 1024 bytes together"],
      remedies: ["put the named header right"]),
    CallFailureClass(
      .mediaLost, .gateway, "media lost", .error, .now,
      "The call was up and its sound stopped arriving for too long.",
      likely: ["a side lost its network", "a firewall closed the media path"],
      remedies: ["call again"]),
    CallFailureClass(
      .message, .gateway, "message not understood", .error, .afterFix,
      "A message to the gateway, or a part of it that is named, is not what the protocol says.",
      likely: ["a mistyped member or type", "a version of the protocol that the gateway does not have"],
      remedies: ["put the named part right"]),
    CallFailureClass(
      .registration, .gateway, "registration refused", .denied, .afterFix,
      "The proof of who registers was not accepted.",
      likely: [
        "a wrong key or secret", "a token that was used before", "a token or credential that has ended",
        "a way to register that the environment does not list",
      ],
      remedies: [
        "ask the app's server for a new signature or token", "compare with 'registration' in the configuration",
      ]),
    CallFailureClass(
      .sequence, .gateway, "sequence too low", .denied, .now,
      "The signature is right and its sequence was passed by another registration of the user.",
      likely: ["another device of the user registered meanwhile", "the counter of whoever signs lags behind"],
      remedies: ["sign again with the sequence that the message names, or a higher one"]),
    CallFailureClass(
      .unavailable, .gateway, "gateway cannot keep it", sipStatus: 503, .error, .later,
      "The gateway cannot read or keep now what it needs for this.",
      likely: ["its disk is full or cannot be written", "its database is locked or damaged"],
      remedies: ["try again later", "make room on the gateway's disk"]),
    CallFailureClass(
      .origin, .gateway, "origin refused", .denied, .afterOperator,
      "Web pages of this origin may not connect to the gateway.",
      likely: ["the page comes from another host or port than the gateway", "the page was opened from a file"],
      remedies: ["add the origin to http.origins in landline.yaml", "landline dev --origin URL"]),
    CallFailureClass(
      .internal, .gateway, "gateway failure", sipStatus: 500, .error, .later,
      "The gateway failed in a way that has no class of its own.",
      likely: ["a defect of the gateway"],
      remedies: ["report the correlation id"]),
  ]

  /// The row of a code.
  public static func row(for code: CallFailureCode) -> CallFailureClass {
    byCode[code] ?? unlisted(code)
  }

  private static let byCode = Dictionary(rows.map { ($0.code, $0) }) { first, _ in first }

  /// Stands in for a row that is missing, which the table's test rules out.
  private static func unlisted(_ code: CallFailureCode) -> CallFailureClass {
    CallFailureClass(
      code, .gateway, "unlisted", .error, .later, "The failure has no row in the catalogue.",
      likely: ["a defect of the gateway"], remedies: ["report the correlation id"])
  }
}

// MARK: - Lookup

extension CallFailureCatalogue {
  /// The class that a SIP final status means by itself. Unknown statuses fall in a class by hundreds.
  public static func code(forStatus status: Int) -> CallFailureCode {
    if let code = byStatus[status] { return code }
    return switch status {
    case 300...399: .redirect
    case 400...499: .request
    case 500...599: .server
    case 600...699: .global
    default: .protocolBroken
    }
  }

  /// The class that a Q.850 cause means by itself; `nil` for a cause that says too little.
  public static func code(forCause cause: Int) -> CallFailureCode? { byCause[cause] }

  /// A status in several rows belongs to the first, but for those that mean less without their context.
  private static let byStatus: [Int: CallFailureCode] = {
    var table: [Int: CallFailureCode] = [:]
    for row in rows { for status in row.statuses where table[status] == nil { table[status] = row.code } }
    table[487] = .cancelled
    return table
  }()

  private static let byCause: [Int: CallFailureCode] = {
    var table: [Int: CallFailureCode] = [:]
    for row in rows { for cause in row.causes where table[cause] == nil { table[cause] = row.code } }
    return table
  }()
}

// MARK: - Page

extension CallFailureCatalogue {
  /// The catalogue as a page of documentation, one row for each class.
  public static var markdown: String {
    func list(_ values: [some CustomStringConvertible]) -> String {
      values.isEmpty ? "–" : values.map(\.description).joined(separator: ", ")
    }
    var page = """
      # Call failures

      Every class of failure a call can end with. The page is rendered from `CallFailureCatalogue`.

      **Statuses** are the SIP final responses the class comes from; one that several classes list is told apart by its
      context: whether it rang, who cancelled, Retry-After, a Q.850 cause. A status in no row keeps its number and falls
      in `sip.redirect`, `sip.request`, `sip.server` or `sip.global` by its hundreds. **Sent** is the SIP status used
      where the gateway itself refuses.

      | Code | Domain | Class | Statuses | Q.850 | Refusals | Sent | End cause | Retry |
      |---|---|---|---|---|---|---|---|---|

      """
    for row in rows {
      page += "| `\(row.code.rawValue)` | \(row.domain.rawValue) | \(row.name) | \(list(row.statuses)) "
      page +=
        "| \(list(row.causes)) | \(list(row.refusals.map(\.rawValue))) | \(list(row.sipStatus.map { [$0] } ?? [])) "
      page += "| \(row.endCause.rawValue) | \(row.retry.text) |\n"
    }
    page += "\n| Code | Meaning | Likely causes | Remedies |\n|---|---|---|---|\n"
    for row in rows {
      page += "| `\(row.code.rawValue)` | \(row.meaning) | \(row.likelyCauses.joined(separator: "; ")) "
      page += "| \(row.remedies.joined(separator: "; ")) |\n"
    }
    return page
  }
}

extension CallFailureCode {
  /// The row of the catalogue.
  public var details: CallFailureClass { CallFailureCatalogue.row(for: self) }
}
