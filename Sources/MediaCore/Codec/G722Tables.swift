/// The constants of ITU-T G.722, in the names of its tables. One copy serves all coders and is never freed; indices come
/// from masked codes. Unsafe in name only: each is filled before it is shared, and never written again.
struct G722Tables: Sendable {
  /// Lower band: decision levels of the six bit quantizer.
  nonisolated(unsafe) let q6 = G722Tables.constant([
    0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339,
    1458, 1612, 1765, 1980, 2195, 2557, 2919,
  ])
  /// Lower band: what six bits mean.
  nonisolated(unsafe) let qm6 = G722Tables.constant([
    -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
    -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
    24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464,
    4008,
    3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
  ])
  /// Lower band: what the upper four of the six bits mean; the adaptation sees no more.
  nonisolated(unsafe) let qm4 = G722Tables.constant([
    0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
  ])
  /// Lower band: logarithmic step for each of the four bit codes.
  nonisolated(unsafe) let wl = G722Tables.constant([
    -60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
  ])
  /// Higher band: what two bits mean.
  nonisolated(unsafe) let qm2 = G722Tables.constant([-7408, -1616, 7408, 1616])
  /// Higher band: logarithmic step for each two bit code.
  nonisolated(unsafe) let wh = G722Tables.constant([798, -214, 798, -214])
  /// Powers of two by 32nds, from 2048.
  nonisolated(unsafe) let ilb = G722Tables.constant([
    2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025,
    3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
  ])

  /// Of ``q6``.
  static let levels = 30

  static let shared = G722Tables()

  private static func constant(_ values: [Int32]) -> UnsafePointer<Int32> {
    let room = UnsafeMutablePointer<Int32>.allocate(capacity: values.count)
    room.initialize(from: values, count: values.count)
    return UnsafePointer(room)
  }
}
