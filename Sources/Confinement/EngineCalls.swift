extension SystemCallFilter {
    /// The filter of the engine and of the commands that it starts: the effect of the settings in tonearm.service
    /// (SystemCallFilter=@system-service, RestrictAddressFamilies, RestrictNamespaces, RestrictSUIDSGID,
    /// MemoryDenyWriteExecute, LockPersonality), and fewer calls (docs/decisions/confined-engine.md).
    public static func ofEngine(_ machine: Machine) -> SystemCallFilter {
        SystemCallFilter(machine, rulesOfEngine(machine), others: Effect.allow, last: last)
    }

    /// mseal, the last call of Linux 6.12. A later one may be anything.
    private static let last: UInt32 = 462

    static func rulesOfEngine(_ machine: Machine) -> [Rule] {
        refused.compactMap { number($0, machine) }.map { Rule($0, Effect.refuse) } + conditions(of: machine)
            + (machine == .arm ? ownOfARM.map { Rule($0, Effect.allow) } : [])
    }

    /// The numbers of a call for intel64, arm64 and arm; nil where there is none.
    private typealias Numbers = (UInt32?, UInt32?, UInt32?)

    private static func number(_ numbers: Numbers, _ machine: Machine) -> UInt32? {
        switch machine {
        case .intel64: numbers.0
        case .arm64: numbers.1
        case .arm: numbers.2
        }
    }

    /// cacheflush, set_tls and get_tls have numbers of their own there (asm/unistd.h).
    private static let ownOfARM: [UInt32] = [0xF_0002, 0xF_0005, 0xF_0006]

    private static func conditions(of machine: Machine) -> [Rule] {
        let rows: [(Numbers, UInt32, Test?)] = [
            // socket: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK.
            ((41, 198, 281), Effect.refuse, .anyOther(than: [1, 2, 10, 16], argument: 0)),
            // clone: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. The flags of clone3, and
            // the mode of openat2, are in memory, which a filter cannot read.
            ((56, 220, 120), Effect.refuse, .anyBit(of: 0x7E02_0080, argument: 0)),
            ((435, 435, 435), Effect.lack, nil),
            ((437, 437, 437), Effect.lack, nil),
            // mmap: PROT_WRITE and PROT_EXEC together; mprotect: PROT_EXEC; shmat: SHM_EXEC.
            ((9, 222, 192), Effect.refuse, .allBits(of: 6, argument: 2)),
            ((10, 226, 125), Effect.refuse, .anyBit(of: 4, argument: 2)),
            ((30, 196, 305), Effect.refuse, .anyBit(of: 0o100000, argument: 2)),
            // chmod, fchmod, fchmodat, fchmodat2, creat, open, openat, mknod, mknodat: S_ISUID and S_ISGID. The C
            // library passes the mode 0 where an open call makes no file.
            ((90, nil, 15), Effect.refuse, .anyBit(of: 0o6000, argument: 1)),
            ((91, 52, 94), Effect.refuse, .anyBit(of: 0o6000, argument: 1)),
            ((268, 53, 333), Effect.refuse, .anyBit(of: 0o6000, argument: 2)),
            ((452, 452, 452), Effect.refuse, .anyBit(of: 0o6000, argument: 2)),
            ((85, nil, 8), Effect.refuse, .anyBit(of: 0o6000, argument: 1)),
            ((2, nil, 5), Effect.refuse, .anyBit(of: 0o6000, argument: 2)),
            ((257, 56, 322), Effect.refuse, .anyBit(of: 0o6000, argument: 3)),
            ((133, nil, 14), Effect.refuse, .anyBit(of: 0o6000, argument: 1)),
            ((259, 33, 324), Effect.refuse, .anyBit(of: 0o6000, argument: 2)),
        ]
        return rows.compactMap { row in number(row.0, machine).map { Rule($0, row.1, if: row.2) } }
    }

    /// The calls that @system-service of systemd 252 leaves out, as far as the kernel has them.
    private static let refused: [Numbers] = [
        (163, 89, 51),  // acct
        (159, 171, 124),  // adjtimex
        (321, 280, 386),  // bpf
        (161, 51, 61),  // chroot
        (305, 266, 372),  // clock_adjtime
        (nil, nil, 405),  // clock_adjtime64
        (227, 112, 262),  // clock_settime
        (nil, nil, 404),  // clock_settime64
        (176, 106, 129),  // delete_module
        (300, 262, 367),  // fanotify_init
        (301, 263, 368),  // fanotify_mark
        (313, 273, 379),  // finit_module
        (431, 431, 431),  // fsconfig
        (432, 432, 432),  // fsmount
        (430, 430, 430),  // fsopen
        (433, 433, 433),  // fspick
        (175, 105, 128),  // init_module
        (173, nil, nil),  // ioperm
        (172, nil, nil),  // iopl
        (320, 294, 401),  // kexec_file_load
        (246, 104, 347),  // kexec_load
        (212, 18, 249),  // lookup_dcookie
        (447, 447, nil),  // memfd_secret
        (27, 232, 219),  // mincore
        (154, nil, nil),  // modify_ldt
        (165, 40, 21),  // mount
        (442, 442, 442),  // mount_setattr
        (429, 429, 429),  // move_mount
        (304, 265, 371),  // open_by_handle_at
        (428, 428, 428),  // open_tree
        (nil, nil, 271),  // pciconfig_iobase
        (nil, nil, 272),  // pciconfig_read
        (nil, nil, 273),  // pciconfig_write
        (298, 241, 364),  // perf_event_open
        (438, 438, 438),  // pidfd_getfd
        (155, 41, 218),  // pivot_root
        (329, 288, 394),  // pkey_mprotect
        (448, 448, 448),  // process_mrelease
        (101, 117, 26),  // ptrace
        (179, 60, 131),  // quotactl
        (443, 443, 443),  // quotactl_fd
        (169, 142, 88),  // reboot
        (317, 277, 383),  // seccomp
        (171, 162, 121),  // setdomainname
        (170, 161, 74),  // sethostname
        (164, 170, 79),  // settimeofday
        (168, 225, 115),  // swapoff
        (167, 224, 87),  // swapon
        (139, nil, 135),  // sysfs
        (103, 116, 103),  // syslog
        (166, 39, 52),  // umount2
        (134, nil, 86),  // uselib
        (136, nil, 62),  // ustat
        (153, 58, 111),  // vhangup
        // It allows these, and the engine does not use them.
        (248, 217, 309),  // add_key
        (426, 426, 426),  // io_uring_enter
        (427, 427, 427),  // io_uring_register
        (425, 425, 425),  // io_uring_setup
        (312, 272, 378),  // kcmp
        (250, 219, 311),  // keyctl
        (135, 92, 136),  // personality
        (310, 270, 376),  // process_vm_readv
        (311, 271, 377),  // process_vm_writev
        (249, 218, 310),  // request_key
        (308, 268, 375),  // setns
        (272, 97, 337),  // unshare
        (323, 282, 388),  // userfaultfd
    ]
}
