import Foundation

@testable import Media

/// Puts the packets of a file into another container, unchanged.
enum Remuxing {
    /// By `ffmpeg`.
    /// - Parameter asStream: written to a pipe, where sizes cannot be filled in afterwards.
    static func ffmpeg(
        _ bytes: [UInt8], _ name: String, _ options: [String] = [], to output: String, asStream: Bool = false
    ) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, "in-\(name)", folder)
            let arguments = ["-loglevel", "error", "-y", "-i", "in-\(name)", "-c", "copy"] + options
            let pipe = folder.appendingPathComponent(output)
            let format = output.hasSuffix("mkv") ? "matroska" : String(output.drop { $0 != "." }.dropFirst())
            try Tool.ffmpeg.run(
                arguments + (asStream ? ["-f", format, "pipe:1"] : [output]), in: folder, output: asStream ? pipe : nil)
            return try Files.read(output, folder)
        }
    }

    /// Remuxes with `mkvmerge`, into Matroska.
    static func mkvmerge(_ bytes: [UInt8], _ name: String, _ options: [String] = []) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, name, folder)
            try Tool.mkvmerge.run(["--quiet", "-o", "out.mka"] + options + [name], in: folder)
            return try Files.read("out.mka", folder)
        }
    }
}
