import CExpat

/// An element of an XML document, with its content. Names are without their namespace.
package struct XMLElement {
    package let name: String
    /// The line where it begins, from 1.
    let line: Int
    private let attributes: [(name: String, value: String)]
    private(set) var children: [XMLElement] = []
    /// The text directly inside, joined.
    package var text: String { String(decoding: textBytes, as: UTF8.self) }
    fileprivate var textBytes: [UInt8] = []

    fileprivate init(name: String, line: Int, attributes: [(name: String, value: String)]) {
        self.name = name
        self.line = line
        self.attributes = attributes
    }

    package func `is`(_ name: StaticString) -> Bool { name.withUTF8Buffer { self.name.utf8.elementsEqual($0) } }

    func attribute(_ name: StaticString) -> String? {
        attributes.first { known in name.withUTF8Buffer { known.name.utf8.elementsEqual($0) } }?.value
    }

    package func children(_ name: StaticString) -> [XMLElement] { children.filter { $0.is(name) } }

    package func child(_ name: StaticString) -> XMLElement? { children.first { $0.is(name) } }

    fileprivate mutating func add(_ child: XMLElement) { children.append(child) }

    /// The root element of a document.
    /// - Throws: `.malformed` with the line, also for a document with its own entities. No supported format needs them,
    ///   and they can be used to attack.
    package static func parse(_ bytes: [UInt8]) throws(ManifestError) -> XMLElement {
        let parser = try XMLParser()
        return try parser.parse(bytes)
    }
}

/// expat's parser, building a tree.
private final class XMLParser {
    private let handle: XML_Parser
    /// The elements that are open, the root first.
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var elementCount = 0
    private var textSize = 0
    /// The reason why the tree cannot be built.
    private var problem: StaticString?

    private static let separator: UInt8 = 0x20
    private static let deepest = 32
    private static let mostElements = 50_000
    private static let mostAttributes = 64
    private static let mostText = 1_048_576

    init() throws(ManifestError) {
        guard let handle = XML_ParserCreateNS(nil, XML_Char(bitPattern: Self.separator)) else {
            throw .malformed(what: "out of memory")
        }
        self.handle = handle
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(handle, startCallback, endCallback)
        XML_SetCharacterDataHandler(handle, textCallback)
        XML_SetStartDoctypeDeclHandler(handle, doctypeCallback)
    }

    deinit { XML_ParserFree(handle) }

    func parse(_ bytes: [UInt8]) throws(ManifestError) -> XMLElement {
        guard let count = Int32(exactly: bytes.count) else { throw .malformed(what: "longer than 2 GB") }
        let status = bytes.withUnsafeBytes {
            XML_Parse(handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), count, 1)
        }
        let line = Int(XML_GetCurrentLineNumber(handle))
        if let problem { throw .malformed(what: "line \(line): \(problem)") }
        guard status == XML_STATUS_OK, let root else {
            let reason = XML_ErrorString(XML_GetErrorCode(handle)).map { String(cString: $0) } ?? "no element"
            throw .malformed(what: "line \(line): \(reason)")
        }
        return root
    }

    fileprivate func start(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        elementCount += 1
        guard open.count < Self.deepest else { return stop("elements lie deeper in each other than 32") }
        guard elementCount <= Self.mostElements else { return stop("more than 50,000 elements") }
        var found: [(name: String, value: String)] = []
        var next = attributes
        while let pair = next, let name = pair[0], let value = pair[1] {
            guard found.count < Self.mostAttributes else { return stop("more than 64 attributes") }
            found.append((Self.localName(name), String(cString: value)))
            next = pair + 2
        }
        let line = Int(XML_GetCurrentLineNumber(handle))
        open.append(XMLElement(name: Self.localName(name), line: line, attributes: found))
    }

    fileprivate func end() {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].add(element) }
    }

    fileprivate func add(_ text: UnsafeBufferPointer<UInt8>) {
        guard !open.isEmpty else { return }
        textSize += text.count
        guard textSize <= Self.mostText else { return stop("more than 1 MiB of text") }
        open[open.count - 1].textBytes += text
    }

    fileprivate func stop(_ problem: StaticString) {
        if self.problem == nil { self.problem = problem }
        _ = XML_StopParser(handle, XML_Bool(XML_FALSE))
    }

    /// expat puts the namespace before the name.
    private static func localName(_ name: UnsafePointer<XML_Char>) -> String {
        let text = String(cString: name)
        guard let last = text.utf8.lastIndex(of: separator) else { return text }
        return String(decoding: Array(text.utf8[text.utf8.index(after: last)...]), as: UTF8.self)
    }

    fileprivate static func of(_ data: UnsafeMutableRawPointer?) -> XMLParser {
        Unmanaged<XMLParser>.fromOpaque(data!).takeUnretainedValue()
    }
}

// Callbacks of expat. The pointers are valid only during the call.
private let startCallback: XML_StartElementHandler = { data, name, attributes in
    guard let name else { return }
    XMLParser.of(data).start(name, attributes)
}

private let endCallback: XML_EndElementHandler = { data, _ in XMLParser.of(data).end() }

private let textCallback: XML_CharacterDataHandler = { data, text, count in
    guard let text, count > 0 else { return }
    text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
        XMLParser.of(data).add(UnsafeBufferPointer(start: $0, count: Int(count)))
    }
}

private let doctypeCallback: XML_StartDoctypeDeclHandler = { data, _, _, _, _ in
    XMLParser.of(data).stop("a document type, which no manifest has")
}
