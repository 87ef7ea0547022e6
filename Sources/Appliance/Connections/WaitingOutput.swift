import Platform

/// The bytes that wait until a client has room for them.
struct WaitingOutput {
    private var bytes: [UInt8] = []
    /// The number of `bytes` that were sent.
    private var sent = 0

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count - sent }

    mutating func append(_ line: [UInt8]) {
        // Pieces of long answers are not copied.
        if bytes.isEmpty { bytes = line } else { bytes += line }
    }

    /// Sends as much as the system's buffer takes. When the client has disconnected, all bytes count as sent: its
    /// earlier requests are still carried out.
    mutating func flush(to socket: StreamSocket) {
        do throws(SystemError) {
            while sent < bytes.count {
                guard let count = try Self.send(bytes, from: sent, to: socket) else { break }
                sent += count
            }
        } catch {
            sent = bytes.count
        }
        if sent == bytes.count {
            removeAll()
        } else if sent > LineConnection.pauseLimit {
            bytes.removeFirst(sent)
            sent = 0
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: false)
        sent = 0
    }

    private static func send(_ bytes: [UInt8], from start: Int, to socket: StreamSocket) throws(SystemError) -> Int? {
        let result = bytes.withUnsafeBytes { all -> Result<Int?, SystemError> in
            do throws(SystemError) {
                return .success(try socket.send(UnsafeRawBufferPointer(rebasing: all[start...])))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
