import CallModel
import Foundation
import LandlineClient
import LandlineConfiguration

// What the commands share that are an app: whom they come as, and how their arguments are read.

extension Console {
  /// The client that a command is, with whatever says where the gateway and the application's secret are.
  /// - Parameter command: names the software, and the device where no other name is given.
  func appClient(
    _ options: AppOptions, command: String, configure: (inout ClientOptions) -> Void = { _ in }
  ) throws -> Client {
    let finder = finder { flags in
      flags.url = options.url
      flags.applicationKey = options.applicationKey
      flags.secretFile = options.secretFile
      flags.user = options.user
    }
    guard let url = try finding({ () throws(FinderProblem) in try finder.url() }) else {
      throw ConsoleError.usage(
        "url.missing", "no gateway is named", at: "--url", fix: "--url ws://127.0.0.1:8080, or LANDLINE_URL")
    }
    announce("gateway", url, in: finder) { $0.url.map { [$0] } ?? [] }
    let application = try finding { () throws(FinderProblem) in try finder.application(at: url.value) }
    guard let key = application.key?.value else {
      throw ConsoleError.usage(
        "key.missing", "no application key is given", at: "--application-key",
        fix: "--application-key KEY, or LANDLINE_APPLICATION_KEY")
    }
    var settings = ClientOptions()
    settings.software = "\(command)/\(LandlineVersion.text)"
    var authorities = options.authorities
    if authorities.isEmpty, let file = environment.value("LANDLINE_AUTHORITY") { authorities = [file] }
    if !authorities.isEmpty { settings.trust = .authorities(authorities) }
    configure(&settings)
    let secret = try applicationSecret(application.secret?.value, key: key)
    do throws(ArgumentError) {
      return try Client(
        applicationKey: key, credentials: .secret(secret), environmentHost: url.value, userID: finder.user,
        device: options.device ?? command, capabilities: [.calling], options: settings)
    } catch {
      throw ConsoleError(error.value, in: Console.argument(error.argument))
    }
  }

  private func applicationSecret(_ place: SecretPlace?, key: String) throws -> Redacted<String> {
    switch place {
    case .file(let path):
      do throws(ConfigurationProblems) {
        return Redacted(try ConfigurationFile.secret(path))
      } catch {
        throw ConsoleError.usage(
          "secret.file", "the secret's file \(error.all.first?.problem ?? "cannot be read")", at: path,
          fix: "a file whose first line is the application's secret")
      }
    case .variable(let name):
      if let secret = environment.value(name) { return Redacted(secret) }
    case .configuration(let path, let key):
      let applications = try readConfiguration(path).environments.flatMap(\.applications)
      if let application = applications.first(where: { $0.key == key }) { return application.secret }
    case nil: break
    }
    throw ConsoleError.usage(
      "secret.missing", "no application secret is given", at: "--secret-file",
      fix: "--secret-file FILE, or LANDLINE_APPLICATION_SECRET")
  }

  /// The option that carried an argument of the client library.
  static func argument(_ name: String) -> String {
    switch name {
    case "applicationKey": "--application-key"
    case "environmentHost": "--url"
    case "userID": "--user"
    case "device": "--device"
    case "callerNumber": "--from"
    case "headers": "--header"
    default: "TARGET"
    }
  }

  static func sound(_ path: String) throws -> SoundFile {
    do throws(SoundFile.Failure) {
      return try SoundFile(path: path)
    } catch {
      throw ConsoleError.usage(
        "play.file", "the sound cannot be played: \(error.problem)", at: path,
        fix: "a WAV file: mono or stereo, 16-bit PCM, 8 to 192 kHz")
    }
  }

  static func recording(_ path: String) throws -> RecordingSink {
    do throws(SoundFile.Failure) {
      return try RecordingSink(path: path)
    } catch {
      throw ConsoleError(
        .notPermitted, code: "record.file", "the recording cannot be made: \(error.problem)", at: path)
    }
  }

  /// `x-name: value`.
  static func headers(_ texts: [String]) throws -> [String: String] {
    var headers: [String: String] = [:]
    for text in texts {
      guard let colon = text.firstIndex(of: ":") else {
        throw ConsoleError.usage("header.form", "header: there is no ':'", at: "--header", fix: "'x-order: 4711'")
      }
      let name = String(text[..<colon])
      let value = text[text.index(after: colon)...].drop { $0 == " " }
      guard headers.updateValue(String(value), forKey: name) == nil else {
        throw ConsoleError.usage("header.duplicate", "header: \(TrunkText.clean(name)) is there twice", at: "--header")
      }
    }
    return headers
  }

  /// Longest time that a call can be asked to last: a day.
  private static let longestMilliseconds: Int64 = 86_400_000

  static func milliseconds(_ text: String, at option: String = "--for") throws -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s", "": 1000
      case "m": 60_000
      case "h": 3_600_000
      default: nil
      }
    guard let unit, let number = Int64(digits), number > 0, number <= longestMilliseconds / unit else {
      throw ConsoleError.usage(
        "duration.value", "time: \"\(TrunkText.clean(text))\" is none that a call can last", at: option,
        fix: "100ms to 24h, such as 10s")
    }
    return number * unit
  }

  static func notStarted(_ failure: CallFailure, at place: String) -> ConsoleError {
    let row = CallFailureCatalogue.row(for: failure.code)
    let phrase = failure.phrase.map(TrunkText.clean)
    let (what, fix): (String, String) =
      switch failure.code {
      case .networkUnreachable:
        (
          "no gateway answers" + (phrase.map { ": \($0)" } ?? ""),
          "start one with landline dev or landline serve, or name another with --url or LANDLINE_URL"
        )
      case .networkSecurity:
        (
          "no secure connection" + (phrase.map { ": \($0)" } ?? ""),
          "name the authority that signed the gateway's certificate with --authority FILE or LANDLINE_AUTHORITY, and the "
            + "gateway by a name that stands in it"
        )
      case .registration:
        (
          "the gateway does not take this application key and secret" + (phrase.map { ": \($0)" } ?? ""),
          "key and secret of one application under 'applications' in the gateway's configuration: --application-key and "
            + "--secret-file; signatures have to be allowed there"
        )
      default: (row.meaning + (phrase.map { " \($0)" } ?? ""), row.remedies.joined(separator: "; "))
      }
    return ConsoleError(CallOutcome.status(failure), code: failure.code.rawValue, what, at: place, fix: fix)
  }
}
