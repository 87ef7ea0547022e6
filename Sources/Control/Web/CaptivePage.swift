import Appliance
import HTTPServer

/// Sends the users of the machine's own network to the page, where they name the network of the house.
///
/// A phone that joins a network asks for a page of its vendor, and shows another one that it gets instead. In this
/// network every name has the machine's address, so that the request arrives here. RFC 8908 and RFC 8910 have a newer
/// way, which needs a certificate that the phone knows.
struct CaptivePage: Sendable {
    let folder: WiFiFolder
    /// The port of the web server.
    let port: UInt16

    /// - Parameter request: a request for a host that is not this machine.
    /// - Returns: nil while the machine has no network of its own.
    func answer(to request: HTTPRequest) -> HTTPAnswer? {
        guard request.method.utf8.elementsEqual("GET".utf8), let address = folder.address else { return nil }
        let authority = port == 80 ? address : address + ":" + String(port)
        return HTTPAnswer(
            status: 302,
            headers: [HTTPField("Location", "http://" + authority + "/#wifi"), HTTPField("Cache-Control", "no-store")])
    }
}
