/// Prices to begin with: a minute to somewhere in the world, dearer in a few places.
enum StarterRates {
  static let csv = """
    prefix,name,rate,fee,initial,increment,grace,flags
    1,North America,0.0120,0,1,1,0,
    2,Africa,0.1500,0,60,60,0,
    3,Europe,0.0250,0,1,1,0,
    4,Europe,0.0250,0,1,1,0,
    467,Sweden mobile,0.0145,0,60,1,0,
    5,Latin America,0.0600,0,60,60,0,
    6,South-east Asia and Oceania,0.0400,0,60,60,0,
    7,Russia and Kazakhstan,0.0500,0,60,60,0,
    8,East Asia,0.0300,0,60,60,0,
    9,Asia,0.0450,0,60,60,0,

    """
}
