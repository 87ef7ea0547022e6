/// The exit codes of commands, for scripts. `tonearm --help` documents them.
enum ExitCode {
    static let fine: Int32 = 0
    /// A file could not be played or read; the rest was.
    static let failed: Int32 = 1
    /// The command line is wrong.
    static let usage: Int32 = 2
    /// The sound device cannot be used.
    static let device: Int32 = 3
    /// The daemon is not running, cannot be reached, or does not answer.
    static let daemon: Int32 = 4
    /// The configuration or the board profile is wrong (EX_CONFIG of sysexits.h, which systemd shows by name).
    static let configuration: Int32 = 78
}
