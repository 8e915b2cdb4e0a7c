/// The country calling codes that ITU-T E.164 assigns, as a table of this project.
///
/// No code is the beginning of another, so the digits of a number name at most one.
package enum CountryCallingCode {
  /// Digits of the longest code.
  static let maximumDigits = 3

  /// Assigned codes by their first digit (the world zone), shared service and network codes included.
  static let assigned: [Int] = [
    1,
    20, 27,
    211, 212, 213, 216, 218,
    220, 221, 222, 223, 224, 225, 226, 227, 228, 229,
    230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249,
    250, 251, 252, 253, 254, 255, 256, 257, 258,
    260, 261, 262, 263, 264, 265, 266, 267, 268, 269,
    290, 291, 297, 298, 299,
    30, 31, 32, 33, 34, 36, 39,
    350, 351, 352, 353, 354, 355, 356, 357, 358, 359,
    370, 371, 372, 373, 374, 375, 376, 377, 378,
    380, 381, 382, 383, 385, 386, 387, 389,
    40, 41, 43, 44, 45, 46, 47, 48, 49,
    420, 421, 423,
    51, 52, 53, 54, 55, 56, 57, 58,
    500, 501, 502, 503, 504, 505, 506, 507, 508, 509,
    590, 591, 592, 593, 594, 595, 596, 597, 598, 599,
    60, 61, 62, 63, 64, 65, 66,
    670, 672, 673, 674, 675, 676, 677, 678, 679,
    680, 681, 682, 683, 685, 686, 687, 688, 689,
    690, 691, 692,
    7,
    81, 82, 84, 86,
    800, 808, 850, 852, 853, 855, 856, 870, 878, 880, 881, 882, 883, 886, 888,
    90, 91, 92, 93, 94, 95, 98,
    960, 961, 962, 963, 964, 965, 966, 967, 968,
    970, 971, 972, 973, 974, 975, 976, 977, 979,
    992, 993, 994, 995, 996, 998,
  ]

  /// One bit for each integer below 1000.
  private static let known: [Bool] = {
    var known = [Bool](repeating: false, count: 1000)
    for code in assigned { known[code] = true }
    return known
  }()

  /// Digits that tell countries apart which share a code with others, code included: of the North American plan (+1) all but
  /// the United States, their territories and Canada (participating countries of NANPA, 2026), and Kazakhstan (+7). A
  /// thief dials them at the price of a call at home.
  static let sharing: Set<Int> = [
    1242, 1246, 1264, 1268, 1284, 1345, 1441, 1473, 1649, 1658, 1664, 1721, 1758, 1767, 1784, 1809, 1829, 1849, 1868,
    1869,
    1876, 76, 77,
  ]
  /// How many digits tell countries of a code apart, code included.
  static let sharedDigits = [1: 4, 7: 2]

  /// Every country that can be allowed or refused, ascending.
  package static let countries = (assigned + sharing).sorted()

  /// Whether a country can be allowed or refused by this code: ``E164Number/country``.
  package static func isCountry(_ code: Int) -> Bool { isAssigned(code) || sharing.contains(code) }

  package static func isAssigned(_ code: Int) -> Bool { known.indices.contains(code) && known[code] }
}
