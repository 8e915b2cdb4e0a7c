/// The version of the client library and of the gateway it belongs to.
public let landlineClientVersion = "0.5.0"
