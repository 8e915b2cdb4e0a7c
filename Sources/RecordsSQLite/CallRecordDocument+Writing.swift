import CallEngine
import CallModel

// MARK: The JSON of a record, each part as its decoder reads it

extension CallRecordDocument {
  /// JSON with the names of the properties; what has no value is left out.
  var text: String {
    var writer = JSONWriter()
    writer.object { write(to: &$0) }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(to writer: inout JSONWriter) {
    writer.optional("application", application)
    writer.optional("user", user)
    if let from { writer.object("from") { from.write(to: &$0) } }
    writer.member("kind", kind)
    writer.member("state", state)
    writer.member("startedAt", startedAt)
    writer.optional("answeredAt", answeredAt)
    writer.optional("trunk", trunk)
    writer.optional("nearCodec", nearCodec)
    writer.optional("farCodec", farCodec)
    writer.optional("heldMicro", heldMicro?.count)
    writer.member("currency", currency)
    if let quality { writer.object("quality") { quality.write(to: &$0) } }
    if let callFailure { writer.object("callFailure") { callFailure.write(to: &$0) } }
    writer.object("summary") { summary.write(to: &$0) }
    writer.optional("callerNumber", callerNumber)
    if let attempts { writer.array("attempts", attempts) { $1.writeElement(to: &$0) } }
    writer.optional("sipCallID", sipCallID)
    if let story {
      writer.array("story", story) { writer, line in
        writer.object {
          $0.member("milliseconds", line.milliseconds)
          $0.member("text", line.text)
        }
      }
    }
    if let statistics {
      writer.object("statistics") { writer in
        for (name, value) in statistics.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
      }
    }
    writer.optional("meanScoreNear", meanScoreNear)
    writer.optional("meanScoreFar", meanScoreFar)
    if let flags { writer.array("flags", flags) { $0.string($1) } }
  }
}

extension CallRecordDocument.Caller {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("kind", kind)
    writer.member("value", value)
    writer.optional("name", name)
    writer.member("verified", verified)
    writer.optional("why", why)
    writer.optional("divertedBy", divertedBy)
  }
}

extension CallRecordDocument.Summary {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("startedAt", startedAt)
    writer.optional("progressedAt", progressedAt)
    writer.optional("rungAt", rungAt)
    writer.optional("answeredAt", answeredAt)
    writer.optional("establishedAt", establishedAt)
    writer.member("endedAt", endedAt)
    if let failure { writer.object("failure") { failure.write(to: &$0) } }
    if let headers {
      writer.array("headers", headers) { writer, header in
        writer.write(.array(header.map { .string($0) }))
      }
    }
    writer.member("durationMilliseconds", durationMilliseconds)
    writer.member("billedSeconds", billedSeconds)
    writer.optional("costMicro", costMicro?.count)
    writer.member("currency", currency)
  }
}

extension CallRecordDocument.Attempt {
  fileprivate func writeElement(to writer: inout JSONWriter) {
    writer.object {
      $0.member("trunk", trunk)
      $0.member("startedAt", startedAt)
      $0.member("endedAt", endedAt)
      $0.optional("sipStatus", sipStatus)
      $0.optional("code", code)
    }
  }
}

extension CallRecordDocument.Direction {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.optional("score", score)
    writer.optional("jitter", jitter)
    writer.optional("loss", loss)
    writer.member("packets", packets)
  }
}

extension CallRecordDocument.Quality {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object("sent") { sent.write(to: &$0) }
    writer.object("received") { received.write(to: &$0) }
    writer.optional("roundTrip", roundTrip)
  }
}

extension CallRecordDocument.Failure {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("code", code)
    writer.optional("refusal", refusal)
    writer.optional("sipStatus", sipStatus)
    writer.optional("phrase", phrase)
    if let reasons {
      writer.array("reasons", reasons) { writer, reason in
        writer.object {
          $0.member("protocolName", reason.protocolName)
          $0.optional("cause", reason.cause)
          $0.optional("text", reason.text)
          $0.optional("location", reason.location)
        }
      }
    }
    writer.optional("warning", warning)
    writer.optional("retryAfterSeconds", retryAfterSeconds)
    writer.optional("trunk", trunk)
    if let attempts { writer.array("attempts", attempts) { $1.writeElement(to: &$0) } }
    writer.optional("leg", leg)
    writer.optional("correlationID", correlationID)
    if let invalid {
      writer.object("invalid") {
        $0.member("kind", invalid.kind)
        $0.member("rule", invalid.rule)
        $0.optional("offset", invalid.offset)
        $0.member("problem", invalid.problem)
        $0.member("accepted", invalid.accepted)
      }
    }
    if let redress {
      writer.object("redress") {
        $0.optional("network", redress.network)
        $0.optional("url", redress.url)
        $0.optional("telephone", redress.telephone)
      }
    }
  }
}
