/// The elements of Matroska that are read (RFC 9559).
enum MatroskaID {
    static let header: UInt32 = 0x1A45_DFA3
    static let docType: UInt32 = 0x4282
    static let segment: UInt32 = 0x1853_8067

    static let seekHead: UInt32 = 0x114D_9B74
    static let seek: UInt32 = 0x4DBB
    static let seekID: UInt32 = 0x53AB
    static let seekPosition: UInt32 = 0x53AC

    static let information: UInt32 = 0x1549_A966
    static let timestampScale: UInt32 = 0x2A_D7B1
    static let duration: UInt32 = 0x4489
    static let title: UInt32 = 0x7BA9

    static let tracks: UInt32 = 0x1654_AE6B
    static let trackEntry: UInt32 = 0xAE
    static let trackNumber: UInt32 = 0xD7
    static let trackUID: UInt32 = 0x73C5
    static let trackType: UInt32 = 0x83
    static let isEnabled: UInt32 = 0xB9
    static let isDefault: UInt32 = 0x88
    static let codec: UInt32 = 0x86
    static let codecPrivate: UInt32 = 0x63A2
    static let codecDelay: UInt32 = 0x56AA
    static let audio: UInt32 = 0xE1
    static let sampleRate: UInt32 = 0xB5
    static let channels: UInt32 = 0x9F
    static let bitDepth: UInt32 = 0x6264
    static let encodings: UInt32 = 0x6D80
    static let encoding: UInt32 = 0x6240
    static let encodingScope: UInt32 = 0x5032
    static let compression: UInt32 = 0x5034
    static let algorithm: UInt32 = 0x4254
    static let settings: UInt32 = 0x4255
    static let encryption: UInt32 = 0x5035

    static let cluster: UInt32 = 0x1F43_B675
    static let timestamp: UInt32 = 0xE7
    static let clusterPosition: UInt32 = 0xA7
    static let previousSize: UInt32 = 0xAB
    static let simpleBlock: UInt32 = 0xA3
    static let blockGroup: UInt32 = 0xA0
    static let block: UInt32 = 0xA1
    static let discardPadding: UInt32 = 0x75A2
    static let checksum: UInt32 = 0xBF
    static let void: UInt32 = 0xEC

    static let cues: UInt32 = 0x1C53_BB6B
    static let cuePoint: UInt32 = 0xBB
    static let cueTime: UInt32 = 0xB3
    static let cuePositions: UInt32 = 0xB7
    static let cueCluster: UInt32 = 0xF1

    static let attachments: UInt32 = 0x1941_A469
    static let attachedFile: UInt32 = 0x61A7
    static let fileName: UInt32 = 0x466E
    static let fileMediaType: UInt32 = 0x4660
    static let fileData: UInt32 = 0x465C

    static let tags: UInt32 = 0x1254_C367
    static let tag: UInt32 = 0x7373
    static let targets: UInt32 = 0x63C0
    static let targetLevel: UInt32 = 0x68CA
    static let targetTrack: UInt32 = 0x63C5
    static let simpleTag: UInt32 = 0x67C8
    static let tagName: UInt32 = 0x45A3
    static let tagString: UInt32 = 0x4487
}
