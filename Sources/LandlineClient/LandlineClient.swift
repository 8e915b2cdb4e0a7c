// Failures, ids, prices and qualities are part of what this library says: one import is enough for an app.
@_exported public import AppProtocol
@_exported public import CallModel
