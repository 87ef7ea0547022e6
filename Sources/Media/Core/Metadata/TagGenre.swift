/// Genres in tags: names, and the numbers of ID3v1.
enum TagGenre {
    /// The genres of a text: `Rock`, `17`, `(17)`, `(17)(12)`, `(17)Hard Rock`, `((Not) a number` (ID3v2.3, 4.2.1,
    /// TCON). Numbers without a name are left out.
    static func names(in text: String) -> [String] {
        var names: [String] = []
        var rest = Array(text.utf8)[...]
        while rest.first == 0x28, let end = rest.firstIndex(of: 0x29),
            let name = name(of: rest[1 + rest.startIndex..<end])
        {
            names += name.isEmpty ? [] : [name]
            rest = rest[(end + 1)...]
        }
        if rest.starts(with: [0x28, 0x28]) { rest = rest.dropFirst() }
        let name = name(of: rest) ?? String(decoding: rest, as: UTF8.self)
        return name.isEmpty ? names : names + [name]
    }

    /// The name of a number, and of the two marks for a remix and a cover; empty for a number without one.
    /// - Returns: nil for any other text.
    private static func name(of text: ArraySlice<UInt8>) -> String? {
        if text.elementsEqual("RX".utf8) { return "Remix" }
        if text.elementsEqual("CR".utf8) { return "Cover" }
        guard 1...3 ~= text.count, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return name(of: text.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }

    private static func name(of number: Int) -> String {
        list.withUTF8Buffer { list in
            let names = list.split(separator: 0x2C, maxSplits: number + 1)
            return names.count > number ? String(decoding: names[number], as: UTF8.self) : ""
        }
    }

    /// Numbers 0 to 79 by ID3v1 (id3.org), the others by Winamp 1.91 and 5.6.
    private static let list: StaticString = """
        Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,\
        Rap,Reggae,Rock,Techno,Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,\
        Trip-Hop,Vocal,Jazz+Funk,Fusion,Trance,Classical,Instrumental,Acid,House,Game,Sound Clip,Gospel,\
        Noise,Alternative Rock,Bass,Soul,Punk,Space,Meditative,Instrumental Pop,Instrumental Rock,Ethnic,\
        Gothic,Darkwave,Techno-Industrial,Electronic,Pop-Folk,Eurodance,Dream,Southern Rock,Comedy,Cult,\
        Gangsta,Top 40,Christian Rap,Pop/Funk,Jungle,Native US,Cabaret,New Wave,Psychedelic,Rave,Showtunes,\
        Trailer,Lo-Fi,Tribal,Acid Punk,Acid Jazz,Polka,Retro,Musical,Rock & Roll,Hard Rock,Folk,Folk-Rock,\
        National Folk,Swing,Fast Fusion,Bebop,Latin,Revival,Celtic,Bluegrass,Avantgarde,Gothic Rock,\
        Progressive Rock,Psychedelic Rock,Symphonic Rock,Slow Rock,Big Band,Chorus,Easy Listening,Acoustic,\
        Humour,Speech,Chanson,Opera,Chamber Music,Sonata,Symphony,Booty Bass,Primus,Porn Groove,Satire,\
        Slow Jam,Club,Tango,Samba,Folklore,Ballad,Power Ballad,Rhythmic Soul,Freestyle,Duet,Punk Rock,\
        Drum Solo,A Cappella,Euro-House,Dance Hall,Goa,Drum & Bass,Club-House,Hardcore,Terror,Indie,BritPop,\
        Afro-Punk,Polsk Punk,Beat,Christian Gangsta Rap,Heavy Metal,Black Metal,Crossover,\
        Contemporary Christian,Christian Rock,Merengue,Salsa,Thrash Metal,Anime,JPop,Synthpop,Abstract,\
        Art Rock,Baroque,Bhangra,Big Beat,Breakbeat,Chillout,Downtempo,Dub,EBM,Eclectic,Electro,\
        Electroclash,Emo,Experimental,Garage,Global,IDM,Illbient,Industro-Goth,Jam Band,Krautrock,Leftfield,\
        Lounge,Math Rock,New Romantic,Nu-Breakz,Post-Punk,Post-Rock,Psytrance,Shoegaze,Space Rock,Trop Rock,\
        World Music,Neoclassical,Audiobook,Audio Theatre,Neue Deutsche Welle,Podcast,Indie Rock,G-Funk,\
        Dubstep,Garage Rock,Psybient
        """
}
