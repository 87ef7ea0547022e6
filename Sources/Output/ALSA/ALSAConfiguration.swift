import CALSA
import CLinux

/// The configuration in which alsa-lib looks up device names (docs/decisions/alsa-without-files.md).
///
/// Thread: any.
public enum ALSAConfiguration: Equatable, Sendable {
    /// The system's files: `alsa.conf`, `/etc/asound.conf`, `~/.asoundrc`, or the one that `ALSA_CONFIG_PATH` names.
    case system
    /// A text in alsa-lib's syntax, for machines without its files.
    case text(String)

    /// For a program without ALSA's files: `hw` (CARD, DEV, SUBDEV), `null`, `file` (FILE, FORMAT: raw or wav) and
    /// `default`, the first card.
    public static var builtIn: ALSAConfiguration { .text(builtInText) }

    /// The system's configuration if alsa-lib can read it, else the built-in one.
    public static var available: ALSAConfiguration {
        tonearm_alsa_silence()
        if getenv("ALSA_CONFIG_PATH") == nil {
            let main = String(cString: snd_config_topdir()) + "/alsa.conf"
            guard access(main, R_OK) == 0 else { return .builtIn }
        }
        return snd_config_update() >= 0 ? .system : .builtIn
    }
}

/// Arguments are named as in the system's `alsa.conf`, so that a device name means the same in both.
private let builtInText = """
    pcm.hw {
        @args [ CARD DEV SUBDEV ]
        @args.CARD { type string default "0" }
        @args.DEV { type integer default 0 }
        @args.SUBDEV { type integer default -1 }
        type hw
        card $CARD
        device $DEV
        subdevice $SUBDEV
    }
    pcm.null { type null }
    pcm.file {
        @args [ FILE FORMAT ]
        @args.FILE { type string }
        @args.FORMAT { type string default raw }
        type file
        slave.pcm null
        file $FILE
        format $FORMAT
    }
    pcm.default { type hw card 0 }
    ctl.hw {
        @args [ CARD ]
        @args.CARD { type string default "0" }
        type hw
        card $CARD
    }
    ctl.default { type hw card 0 }

    """

/// A configuration that was parsed from a text. Devices that were opened with it do not need it afterwards.
struct ConfigurationTree: ~Copyable {
    let raw: OpaquePointer

    static func parse(_ text: String) throws(ALSAFailure) -> ConfigurationTree {
        let tree = try ConfigurationTree()
        var input: OpaquePointer?
        let opened = text.withCString { snd_input_buffer_open(&input, $0, text.utf8.count) }
        try ALSAFailure.check(opened)
        defer { snd_input_close(input) }
        try ALSAFailure.check(snd_config_load(tree.raw, input))
        return tree
    }

    private init() throws(ALSAFailure) {
        var tree: OpaquePointer?
        try ALSAFailure.check(snd_config_top(&tree))
        guard let tree else { throw ALSAFailure(code: -ENOMEM) }
        raw = tree
    }

    deinit { snd_config_delete(raw) }
}
