import Crypto
import Platform

/// The beginning of an update bundle: a signature, followed by the signed manifest. The manifest is lines of text that
/// describe the rest (firmware-image/lib/firmware/bundle.py writes it).
///
/// - `tonearm-update 1`
/// - `board=NAME`
/// - `version=NUMBERS`
/// - `piece=PLACE SIZE SHA256`, once for the root file system, once for the header with kernel and initramfs
struct UpdateManifest: Equatable {
    /// A run of bytes that is written to the slot unchanged.
    struct Piece: Equatable {
        /// The position in the slot, in bytes: a multiple of a sector.
        var offset: Int64
        /// The size in bytes: a multiple of a sector.
        var size: Int64
        /// The SHA-256, 32 bytes.
        var digest: [UInt8]
    }

    static let signatureSize = P256PublicKey.signatureCount
    static let size = 960
    /// The first byte of the pieces in the bundle.
    static let firstPiece = signatureSize + size

    static let sector: Int64 = 512
    /// The size of a slot, in bytes (firmware-image/lib/firmware/disk.py).
    static let slotSize: Int64 = 64 << 20

    var board: String
    var version: String
    /// The root file system, from the slot's beginning.
    var root: Piece
    /// The header, one sector, followed by kernel and initramfs.
    var boot: Piece

    /// - Parameter bytes: the manifest after the signature, padded with line ends.
    /// - Returns: nil when this version does not understand the manifest.
    init?(parsing bytes: ArraySlice<UInt8>) {
        var fields = Fields()
        for line in bytes.split(separator: UInt8(ascii: "\n")) where !fields.take(line) { return nil }
        guard let board = fields.board, let version = fields.version, fields.pieces.count == 2,
            UpdateVersion(version) != nil
        else { return nil }
        (self.board, self.version, root, boot) = (board, version, fields.pieces[0], fields.pieces[1])
        guard root.offset == 0, root.size <= boot.offset, boot.size > Self.sector,
            boot.offset <= Self.slotSize - boot.size
        else { return nil }
    }

    /// The size of all pieces, in bytes.
    var contentSize: Int64 { root.size + boot.size }
}

extension UpdateManifest {
    /// Checks the signature, the board and the version.
    /// - Parameters:
    ///   - head: the first `firstPiece` bytes of a bundle.
    ///   - path: the path of the bundle, for messages.
    ///   - isForced: whether an older version is allowed.
    init(authenticating head: [UInt8], path: String, for image: ImageFiles, isForced: Bool) throws(UpdateError) {
        guard head.count == Self.firstPiece else { throw .tooShort(path: path) }
        let signed = head[Self.signatureSize...]
        do throws(CryptoError) {
            var key = try P256PublicKey(uncompressed: image.key)
            if try !key.isValid(Array(head[..<Self.signatureSize]), of: Array(signed)) { throw .notAuthentic }
        } catch {
            throw .wrongSignature(path: path)
        }
        guard let manifest = UpdateManifest(parsing: signed), let version = UpdateVersion(manifest.version) else {
            throw .unknownForm(path: path)
        }
        guard manifest.board.utf8.elementsEqual(image.board.utf8) else {
            throw .otherBoard(update: manifest.board, running: image.board)
        }
        if !isForced, let running = UpdateVersion(image.version), version.isOlder(than: running) {
            throw .older(update: manifest.version, running: image.version)
        }
        self = manifest
    }

    /// Checks that all pieces are inside of the partition, which an older image may have made smaller.
    func checkFits(_ slot: borrowing UpdateSlot) throws(UpdateError) {
        let end = boot.offset + boot.size
        if let size = slot.size, size < end { throw .doesNotFit(needed: end, slot: size) }
    }
}

/// The values of the lines that were read so far.
private struct Fields {
    var isKnownForm = false
    var board: String?
    var version: String?
    var pieces: [UpdateManifest.Piece] = []

    /// - Returns: false for a line that is not understood.
    mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
        if !isKnownForm {
            isKnownForm = line.elementsEqual("tonearm-update 1".utf8)
            return isKnownForm
        }
        if let value = Self.value("board=", line) {
            board = value
        } else if let value = Self.value("version=", line) {
            version = value
        } else if let value = Self.value("piece=", line), let piece = UpdateManifest.Piece(parsing: value) {
            pieces.append(piece)
        } else {
            return false
        }
        return true
    }

    private static func value(_ name: String, _ line: ArraySlice<UInt8>) -> String? {
        guard line.starts(with: name.utf8) else { return nil }
        return String(decoding: line.dropFirst(name.utf8.count), as: UTF8.self)
    }
}

extension UpdateManifest.Piece {
    fileprivate init?(parsing text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " "))
        guard words.count == 3, let offset = Int64(String(Substring(words[0]))),
            let size = Int64(String(Substring(words[1]))), let digest = Hexadecimal.bytes(String(Substring(words[2]))),
            digest.count == SHA256.digestCount
        else { return nil }
        let range = 0...UpdateManifest.slotSize
        guard range.contains(offset), range.contains(size), size > 0, offset % UpdateManifest.sector == 0,
            size % UpdateManifest.sector == 0
        else { return nil }
        (self.offset, self.size, self.digest) = (offset, size, digest)
    }
}
