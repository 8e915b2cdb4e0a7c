import AppProtocol
import CallModel

extension EngineContext {
  /// Headers as an app wrote them, once they are found good.
  static func headers(
    _ fields: [PlaceCall.Header], _ names: CustomHeaders.Names
  ) throws(CallFailure) -> CustomHeaders {
    do throws(InvalidValue) {
      var headers = CustomHeaders()
      for field in fields { try headers.append(name: field.name, value: field.value, names: names) }
      return headers
    } catch {
      throw CallFailure(.header, leg: .app, invalidValue: error)
    }
  }
}
