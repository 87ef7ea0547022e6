import CLinux

/// The time against which certificates are checked.
enum CertificateTime {
    /// In seconds since 1970: the system's clock, and never before this version was made. A board without a battery for
    /// its clock begins in 1970.
    static func now() -> Int64 { max(Int64(time(nil)), tonearmReleased) }
}
