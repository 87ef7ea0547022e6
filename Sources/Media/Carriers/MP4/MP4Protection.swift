/// How the samples of one description, or of one sample group, are encrypted (`tenc` and `seig`; ISO/IEC 23001-7, 8.2
/// and 6).
struct MP4KeyParameters: Equatable {
    var isProtected: Bool
    /// Bytes of the initialization vector that comes with each sample: 0, 8 or 16.
    var vectorSize: Int
    var keyID: [UInt8]
    /// The vector of all samples, when the samples have none.
    var constantVector: [UInt8]
    /// The pattern in blocks of 16 bytes; 0 and 0 when every block is encrypted.
    var encryptedBlocks: Int
    var plainBlocks: Int

    /// The fields that `tenc`, after its version and flags, and an entry of `seig` share.
    init?(_ bytes: [UInt8], hasPattern: Bool) {
        var reader = ByteReader(bytes)
        reader.skip(1)
        guard let pattern = reader.bigEndian(UInt8.self), let isProtected = reader.bigEndian(UInt8.self),
            let vectorSize = reader.bigEndian(UInt8.self), let keyID = reader.bytes(16)
        else { return nil }
        self.isProtected = isProtected == 1
        self.vectorSize = self.isProtected ? Int(vectorSize) : 0
        self.keyID = Array(keyID)
        encryptedBlocks = hasPattern ? Int(pattern >> 4) : 0
        plainBlocks = hasPattern ? Int(pattern & 0xF) : 0
        constantVector = []
        guard self.vectorSize == 0 || self.vectorSize == 8 || self.vectorSize == 16 else { return nil }
        if self.isProtected, vectorSize == 0 {
            guard let size = reader.bigEndian(UInt8.self), size == 8 || size == 16,
                let vector = reader.bytes(Int(size))
            else { return nil }
            constantVector = Array(vector)
        }
    }
}

/// The protection scheme of an encrypted sample entry (`sinf`; ISO/IEC 14496-12, 8.12).
struct MP4Protection: Equatable {
    /// The codec inside: `mp4a` in an entry `enca`.
    var originalFormat: FourCharacterCode
    var scheme: PacketEncryption.Scheme
    var parameters: MP4KeyParameters

    init(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        var originalFormat: FourCharacterCode?
        var schemeName: FourCharacterCode?
        var parameters: MP4KeyParameters?
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            switch box.type {
            case "frma":
                var reader = ByteReader(try box.bytes(of: source, limit: 4))
                originalFormat = reader.code()
            case "schm":
                var fields = MP4Fields(try box.bytes(of: source, limit: 8))
                schemeName = fields?.code()
            case "schi":
                guard let box = try box.child("tenc", of: source) else { continue }
                let bytes = try box.bytes(of: source, limit: 64)
                guard let fields = MP4Fields(bytes) else { continue }
                parameters = MP4KeyParameters(
                    Array(bytes[Int(MP4Fields.headerSize)...]), hasPattern: fields.version > 0)
            default: break
            }
        }
        guard let originalFormat, let schemeName else {
            throw .damaged(what: "MP4 with encryption that is not described")
        }
        guard let scheme = PacketEncryption.Scheme(schemeName) else {
            throw .unsupported(what: "MP4 encrypted with scheme “\(schemeName.text)”")
        }
        guard let parameters else { throw .damaged(what: "MP4 with encryption that is not described") }
        self.originalFormat = originalFormat
        self.scheme = scheme
        self.parameters = parameters
    }
}

/// The data with which a key system finds the key (`pssh`; ISO/IEC 23001-7, 8.1).
struct MP4ProtectionSystem: Equatable {
    /// The 16 bytes that name the system.
    var systemID: [UInt8]
    /// The whole box: some systems take it as it is.
    var box: [UInt8]

    private static let largest: Int64 = 65_536

    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        let size = box.end - box.offset
        guard size <= Self.largest else { return nil }
        self.box = try SourceReader(source).bytes(Int(size), at: box.offset)
        var fields = MP4Fields(try box.bytes(of: source, limit: 20))
        guard let systemID = fields?.bytes(16) else { return nil }
        self.systemID = systemID
    }
}

extension PacketEncryption.Scheme {
    fileprivate init?(_ name: FourCharacterCode) {
        switch name {
        case "cenc": self = .cenc
        case "cens": self = .cens
        case "cbc1": self = .cbc1
        case "cbcs": self = .cbcs
        default: return nil
        }
    }
}
