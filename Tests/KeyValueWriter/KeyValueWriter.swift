@main struct KeyValueWriter {
    static func main() {}
}
