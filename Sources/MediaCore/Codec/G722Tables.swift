/// The constants of ITU-T G.722, in the names of its tables.
enum G722Tables {
  /// QMF: half of the 24 symmetric coefficients, first to last for one phase, last to first for the other.
  static let filter: [Int32] = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11]
  /// Lower band: decision levels of the six bit quantizer.
  static let q6: [Int32] = [
    0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339,
    1458, 1612, 1765, 1980, 2195, 2557, 2919,
  ]
  /// Lower band: what six bits mean.
  static let qm6: [Int32] = [
    -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
    -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
    24808,
    21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464, 4008,
    3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
  ]
  /// Lower band: what the upper four of the six bits mean; the adaptation sees no more.
  static let qm4: [Int32] = [
    0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
  ]
  /// Lower band: logarithmic step for each of the four bit codes.
  static let wl: [Int32] = [
    -60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
  ]
  /// Higher band: what two bits mean.
  static let qm2: [Int32] = [-7408, -1616, 7408, 1616]
  /// Higher band: logarithmic step for each two bit code.
  static let wh: [Int32] = [798, -214, 798, -214]
  /// Powers of two by 32nds, from 2048.
  static let ilb: [Int32] = [
    2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025,
    3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
  ]
}
