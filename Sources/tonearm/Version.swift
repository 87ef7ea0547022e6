/// The version of the program. Only this line has it.
let tonearmVersion = "0.1.0"

/// 2026-11-22, in seconds since 1970: no clock that is right shows an earlier time.
let tonearmReleased: Int64 = 1_795_305_600
