import CallModel
import Glibc
import NIOCore
import NIOPosix
import SIPCore

/// One UDP socket. Reads come from the event loop in batches; writes go straight to the socket, because the loop's own
/// datagram writer closes the whole socket over one destination that the kernel refuses.
final class DatagramListener: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  enum SendResult: Hashable {
    case sent
    /// No room in the kernel: lost, like on any wire.
    case dropped
    case failed(errno: CInt)
  }

  let listener: SIPListener
  private weak var transports: SIPTransports?
  private var channel: (any Channel)?
  /// Of the channel's socket; good for as long as the channel is active.
  private var descriptor: NIOBSDSocket.Handle?

  init(_ listener: SIPListener, of transports: SIPTransports) {
    self.listener = listener
    self.transports = transports
  }

  func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }
  func handlerRemoved(context: ChannelHandlerContext) {
    channel = nil
    descriptor = nil
  }

  func close() { channel?.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    guard let remote = envelope.remoteAddress.transportAddress(.udp) else { return }
    transports?.receivedDatagram(
      Array(envelope.data.readableBytesView), from: SIPPath(listener: listener.id, remote: remote))
  }

  /// A broken read says nothing about other peers: the socket stays.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    transports?.report(.listener, listener.id, "reading a datagram failed: \(ErrorText.text(error))")
  }

  func send(_ bytes: [UInt8], to remote: TransportAddress) -> SendResult {
    guard let channel, channel.isActive else { return .failed(errno: EBADF) }
    // Asked for once: the channel's answer takes longer than the system call.
    if descriptor == nil {
      descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
        $0
      }
    }
    return descriptor.map { DatagramListener.send(bytes, to: remote, on: $0) } ?? .failed(errno: EBADF)
  }

  private static func send(_ bytes: [UInt8], to remote: TransportAddress, on socket: CInt) -> SendResult {
    func send<Address>(_ address: Address) -> SendResult {
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bytes.withUnsafeBytes { bytes in
            let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
            // An interrupted call is made again, but not for ever.
            for _ in 0..<4 {
              let length = socklen_t(MemoryLayout<Address>.size)
              if sendto(socket, bytes.baseAddress, bytes.count, flags, address, length) >= 0 { return .sent }
              guard errno == EINTR else { break }
            }
            let code = errno
            return code == EAGAIN || code == EINTR || code == ENOBUFS ? .dropped : .failed(errno: code)
          }
        }
      }
    }
    return switch remote.host {
    case .name: .failed(errno: EAFNOSUPPORT)
    case .ipv4(let address): send(sockaddr_in(address, port: remote.port))
    case .ipv6(let high, let low): send(sockaddr_in6(high: high, low: low, port: remote.port))
    }
  }
}
