@main struct Tonearm {
    static func main() {
        print("tonearm")
    }
}
