import ArgumentParser
import LandlineConsole

/// As which app a command comes to a gateway.
struct AppArguments: ParsableArguments {
  @Option(help: "The gateway: ws://HOST:PORT or wss://HOST (LANDLINE_URL).")
  var url: String?

  @Option(name: .customLong("application-key"), help: "The application's key (LANDLINE_APPLICATION_KEY).")
  var applicationKey: String?

  @Option(
    name: .customLong("secret-file"),
    help: "File with the application's secret (LANDLINE_APPLICATION_SECRET_FILE, LANDLINE_APPLICATION_SECRET).",
    completion: .file())
  var secretFile: String?

  @Option(
    name: .customLong("authority"),
    help: "A PEM file of authorities that wss trusts in place of the system's; repeatable (LANDLINE_AUTHORITY).",
    completion: .file())
  var authorities: [String] = []

  @Option(help: "Who this is, inside the application (LANDLINE_USER; default: cli).")
  var user: String?

  @Option(help: "Which of the user's devices this is (default: the command's name).")
  var device: String?

  var options: AppOptions {
    var options = AppOptions()
    options.url = url
    options.applicationKey = applicationKey
    options.secretFile = secretFile
    options.user = user
    options.device = device
    options.authorities = authorities
    return options
  }
}
