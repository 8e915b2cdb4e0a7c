import CallModel
import Testing

@Suite("Errors of libraries without places of the build")
struct ErrorTextTests {
  struct Refused: Error, CustomStringConvertible {
    var description: String
  }

  @Test(arguments: [
    ("connect(descriptor:addr:size:): Connection refused (errno: 111)", "Connection refused"),
    ("connection reset (error set): Connection refused) (errno: 111)", "Connection refused"),
    ("bind(descriptor:ptr:bytes:): Address already in use (errno: 98)", "Address already in use"),
    (
      "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /build/checkouts/swift-nio-ssl/Sources/CNIOBoringSSL/ssl/handshake.cc:298]))",
      "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED]))"
    ),
    ("broken (/build/Sources/A.swift:12:5)", "broken ()"),
    ("/etc/landline/landline.yaml is empty", "/etc/landline/landline.yaml is empty"),
    ("no answer of http://127.0.0.1:8080/", "no answer of http://127.0.0.1:8080/"), ("plain", "plain"),
  ])
  func cleaned(_ text: String, _ wanted: String) {
    #expect(ErrorText.text(Refused(description: text)) == wanted)
  }
}
