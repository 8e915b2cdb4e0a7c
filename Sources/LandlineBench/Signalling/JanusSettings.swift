/// What every Janus of a benchmark is started with.
enum JanusSettings {
  private static let library = "/usr/lib/x86_64-linux-gnu/janus"
  private static let plugins = [
    "audiobridge", "duktape", "echotest", "lua", "nosip", "recordplay", "sip", "streaming", "textroom", "videocall",
    "videoroom", "voicemail",
  ]
  private static let transports = ["http", "mqtt", "nanomsg", "pfunix", "rabbitmq", "websockets"]

  /// `janus.jcfg` with one plugin and one transport of Debian's package.
  static func general(plugin: String, transport: String) -> String {
    """
    general: {
      configs_folder = "."
      plugins_folder = "\(library)/plugins"
      transports_folder = "\(library)/transports"
      events_folder = "\(library)/events"
      loggers_folder = "\(library)/loggers"
      debug_level = 2
      # Sessions last as long as their trial.
      session_timeout = 0
    }
    media: { }
    nat: { }
    plugins: {
      disable = "\(others(plugins, than: plugin))"
    }
    transports: {
      disable = "\(others(transports, than: transport))"
    }

    """
  }

  private static func others(_ names: [String], than kept: String) -> String {
    names.filter { $0 != kept }.map { "libjanus_\($0).so" }.joined(separator: ",")
  }
}
