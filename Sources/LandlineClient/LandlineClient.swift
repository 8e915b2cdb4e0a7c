// Failures, ids, prices and qualities are part of what this library says: one import is enough for an app.
@_exported public import AppProtocol
@_exported public import CallModel

/// The version of the client library and of the gateway it belongs to.
public let landlineClientVersion = "0.6.0"
