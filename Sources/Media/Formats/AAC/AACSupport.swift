/// AAC needs the package trait of its name.
enum AACSupport {
    /// The format that is missing without the trait, for messages.
    static let missing = "AAC (this program was built without the package trait AAC)"
}
