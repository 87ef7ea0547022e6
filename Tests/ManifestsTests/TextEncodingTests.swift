import TestSupport
import Testing

@testable import Manifests

@Suite("Character sets of cue sheets and playlists (docs/decisions/character-sets.md)")
struct TextEncodingTests {
    // MARK: Tables

    /// Python's codecs gave these numbers, for all codes whose character is in `ranges`.
    @Test(
        "The tables are those of Windows-932, GBK, Windows-1251 and KOI8-U",
        arguments: [
            (.shiftJIS, 7177, 0xB9BFD50091EA33F0), (.gbk, 21071, 0xE0F564A808C6065A),
            (.windows1251, 94, 0x07B77E910FAC500B), (.koi8, 74, 0x8656DFDA4786390A),
        ] as [(TextEncoding, Int, UInt64)])
    func tables(encoding: TextEncoding, count: Int, checksum: UInt64) {
        var (found, sum) = (0, 0xCBF2_9CE4_8422_2325 as UInt64)
        for (code, character) in Self.codes(of: encoding) {
            let isMeant =
                encoding.isWide
                ? (0x4E00...0x9FA5).contains(character) || (0x3041...0x3093).contains(character)
                    || (0x30A1...0x30F6).contains(character)
                : (0x400...0x491).contains(character)
            guard isMeant else { continue }
            found += 1
            for word in [code.reduce(0) { UInt64($0) << 8 | UInt64($1) }, UInt64(character)] {
                sum = (sum ^ word) &* 0x100_0000_01B3
            }
        }
        #expect(found == count && sum == checksum)
    }

    /// All codes beyond ASCII and their characters.
    private static func codes(of encoding: TextEncoding) -> [(code: [UInt8], character: UInt32)] {
        let codes: [[UInt8]] =
            encoding.isWide
            ? (0x81...0xFE).flatMap { lead in (0x40...0xFE).map { [lead, $0] } }.filter { $0[1] != 0x7F }
            : (0x80...0xFF).map { [$0] }
        return codes.compactMap { code in
            var place = 0
            let character = encoding.character(in: code, at: &place)
            return place == code.count ? (code, character) : nil
        }
    }

    // MARK: Recognition

    /// The bytes of a text, by the table of the character set itself; nil for a character that it does not have.
    private struct Encoder {
        private var codes: [UInt32: [UInt8]] = [:]

        init(_ encoding: TextEncoding) {
            for (code, character) in TextEncodingTests.codes(of: encoding) where codes[character] == nil {
                codes[character] = code
            }
            guard encoding == .shiftJIS else { return }
            for byte in UInt8(0xA1)...0xDF { codes[0xFF61 + UInt32(byte - 0xA1)] = [byte] }
        }

        func bytes(of text: String) throws -> [UInt8] {
            try text.unicodeScalars.flatMap { scalar in
                scalar.value < 0x80 ? [UInt8(scalar.value)] : try #require(codes[scalar.value], "\(scalar)")
            }
        }
    }

    private static func sheet(_ album: String) -> String {
        let names = album.split(separator: "|")
        let tracks = names.dropFirst().map { "  TRACK 01 AUDIO\n    TITLE \"\($0)\"\n    INDEX 01 00:00:00\n" }
        return "PERFORMER \"\(names[0])\"\nFILE \"\(names[0]).flac\" WAVE\n" + tracks.joined()
    }

    private static func list(_ album: String) -> String {
        let names = album.split(separator: "|")
        return "#EXTM3U\n" + names.map { "#EXTINF:1,\($0)\nMusic\\\(names[0])\\\($0).mp3\n" }.joined()
    }

    /// An artist, and titles.
    private static let albums: [(TextEncoding, [String])] = [
        (
            .shiftJIS,
            [
                "宇多田ヒカル|First Love|Automatic|Movin' on without you|In My Room|甘いワナ|朝になったら|B&C|時間がたてば",
                "椎名林檎|無罪モラトリアム|正しい街|歌舞伎町の女王|丸ノ内サディスティック|幸福論|茜さす 帰路照らされど…",
                "中島みゆき|時代",
                "久石譲|千と千尋の神隠し|あの夏へ|とおり道|神さま達",
                "髙橋真梨子|ごめんね…",
                "ﾌﾞﾙｰﾊｰﾂ|ﾘﾝﾀﾞﾘﾝﾀﾞ",
                "YMO|増殖",
                "Perfume|ポリリズム",
                "坂本龍一|戦場のメリークリスマス①",
                "米津玄師|感電|カンパネルラ|迷える羊|パプリカ",
            ]
        ),
        (
            .gbk,
            [
                "邓丽君|月亮代表我的心|甜蜜蜜|小城故事|但愿人长久",
                "周杰伦|范特西|爱在西元前|爸我回来了|简单爱|忍者|开不了口|上海一九四三|对不起|威廉古堡|双截棍|安静",
                "王菲|红豆|天空",
                "崔健|一无所有|新长征路上的摇滚",
                "Beyond|海阔天空",
                "刘德华|忘情水",
                "张学友|吻别",
                "李宗盛|山丘",
                "罗大佑|童年|恋曲1990",
                "鄧麗君|月亮代表我的心|甜蜜蜜|我只在乎你|夜來香|何日君再來",
                "朴树|那些花儿",
                "王力宏|爱错|大城小爱",
            ]
        ),
        (
            .windows1251,
            [
                "Кино|Группа крови|Закрой за мной дверь, я ухожу|Война|Спокойная ночь|Мама, мы все тяжело больны",
                "Аквариум|Равноденствие|Иван-Чай|Партизаны полной луны",
                "Земфира|Прости меня моя любовь|Хочешь?|Искала",
                "ДДТ|Что такое осень|Осень",
                "КИНО|ГРУППА КРОВИ|ЗВЕЗДА ПО ИМЕНИ СОЛНЦЕ",
                "Наутилус Помпилиус|Крылья|Скованные одной цепью",
                "Алла Пугачёва|Миллион алых роз|Айсберг",
                "кино|последний герой|восьмиклассница",
                "Би-2|Полковник",
                "Сплин|Выхода нет",
                "Любэ|Комбат|Конь",
                "Ария|Беспечный ангел",
                "Мумий Тролль|Утекай",
                "Океан Ельзи|Без бою|Обійми|Відпусти|Коли тебе нема",
                "Скрябін|Місця щасливих людей",
            ]
        ),
        (
            .koi8,
            [
                "Кино|Группа крови|Закрой за мной дверь, я ухожу|Война|Спокойная ночь|Мама, мы все тяжело больны",
                "Аквариум|Равноденствие|Иван-Чай|Партизаны полной луны",
                "Земфира|Прости меня моя любовь|Хочешь?|Искала",
                "ДДТ|Что такое осень|Осень",
                "КИНО|ГРУППА КРОВИ|ЗВЕЗДА ПО ИМЕНИ СОЛНЦЕ",
                "Наутилус Помпилиус|Крылья|Скованные одной цепью",
                "Алла Пугачёва|Миллион алых роз|Айсберг",
                "кино|последний герой|восьмиклассница",
                "Би-2|Полковник",
                "Сплин|Выхода нет",
                "Любэ|Комбат|Конь",
                "Ария|Беспечный ангел",
                "Мумий Тролль|Утекай",
                "Океан Ельзи|Без бою|Обійми|Відпусти|Коли тебе нема",
                "Скрябін|Місця щасливих людей",
            ]
        ),
        (
            .utf8,
            [
                "Björk|Debut|Venus as a Boy",
                "Sigur Rós|Ágætis byrjun|Svefn-g-englar|Starálfur|Flugufrelsarinn|Ný batterí",
                "Édith Piaf|La vie en rose|Non, je ne regrette rien|L’accordéoniste|À quoi ça sert l’amour?",
                "Ólafur Arnalds|…and they have escaped the weight of darkness|Þú ert jörðin|Tunglið",
                "Die Ärzte|Männer sind Schweine|Schrei nach Liebe",
                "Motörhead|Ace of Spades",
                "Blue Öyster Cult|Don’t Fear the Reaper",
                "Queensrÿche|Operation: Mindcrime",
                "MÖTLEY CRÜE|SHOUT AT THE DEVIL",
                "Françoise Hardy|Tous les garçons et les filles|Été|Le temps de l’amour",
                "Café Tacvba|Ré|El ciclón|La ingrata|Ñ",
                "João Gilberto|Chega de saudade|Corcovado – Quiet Nights|Desafinado|Águas de Março|Não",
                "Anne Sofie von Otter|Wäre ich ein Vöglein|Österreich|Über allen Gipfeln|Größe",
                "DÉJÀ VU|ÉTÉ|CRÉÉE",
                "“Heroes”|David Bowie",
                "It’s a Beautiful Day|Don’t Stop|We’re here",
                "Kent|Isola|Om du var här|Livräddaren|747|Längesen vi sågs|Saker man ser",
                "Ässät|ÄÖÜ",
                "Mariza|Ó gente da minha terra|É ou não é",
                "Niño de Elche|¿Qué?|¡Olé!",
                "Beyoncé",
                "Céline Dion|D’eux|Pour que tu m’aimes encore|J’irai où tu iras|Destin",
                "½ Mensch|Einstürzende Neubauten",
                "Sinéad O’Connor|I Do Not Want What I Haven’t Got",
                "Jean-Michel Jarre|Oxygène|Équinoxe|Zoolook",
                "Zürich 1972 – Live at the Volkshaus, 3° above",
                "Røyksopp|Melody A.M.|Eple|Så lett, så kort",
                "Gösta Berlings saga|Tid är ljud",
                "ß|æ|Æ",
                "Mylène Farmer|L’Âme-Stram-Gram|Désenchantée",
                "Dagö|Õhtu ilu|Päike ja lained",
                "Noël à l’église|Là|où",
            ]
        ),
    ]

    @Test("A sheet and a list are recognised by their content, each alone", arguments: albums)
    func recognised(encoding: TextEncoding, albums: [String]) throws {
        let encoder = Encoder(encoding)
        for album in albums {
            // № is not in KOI8, and few signs are.
            for text in [Self.sheet(album), Self.list(album)] {
                let bytes = try encoder.bytes(of: text)
                #expect(TextEncoding(of: bytes) == encoding, "\(album)")
                #expect(TextEncoding(of: bytes).text(of: bytes) == text)
                // UTF-8 is UTF-8, in any language.
                #expect(TextEncoding(of: Array(text.utf8)) == .utf8)
                #expect(TextEncoding.utf8.text(of: Array(text.utf8)) == text)
            }
        }
    }

    @Test(
        "Big5 and EUC-KR are named, and titles in them left out",
        arguments: [
            (
                [
                    0xBE, 0x48, 0xC4, 0x52, 0xA7, 0x67, 0x7C, 0xA4, 0xEB, 0xAB, 0x47, 0xA5, 0x4E, 0xAA, 0xED, 0xA7,
                    0xDA, 0xAA, 0xBA, 0xA4, 0xDF, 0x7C, 0xB2, 0xA2, 0xBB, 0x65,
                ], "Big5"
            ),
            (
                [
                    0xB1, 0xE8, 0xB1, 0xA4, 0xBC, 0xAE, 0x7C, 0xBC, 0xAD, 0xB8, 0xA5, 0x20, 0xC1, 0xEE, 0xC0, 0xBD,
                    0xBF, 0xA1, 0x7C, 0xC0, 0xCF,
                ], "EUC-KR"
            ),
        ] as [([UInt8], String)])
    func unread(name: [UInt8], encoding: String) {
        let sheet = CueSheet(
            parsing: Array("TITLE \"".utf8) + name + Array("\"\nFILE \"a.flac\" WAVE\nTRACK 1 AUDIO\nTITLE x\n".utf8))
        #expect(sheet.unreadEncoding == encoding)
        #expect(sheet.tracks.first?.metadata.album == nil && sheet.tracks.first?.metadata.title == "x")
        #expect(PlaylistFile(parsing: name, in: "/m").unreadEncoding == encoding)
        #expect(PlaylistFile(parsing: Array("a.flac".utf8), in: "/m").unreadEncoding == nil)
    }

    @Test("Lines of UTF-8 among others stay what they are, and damage in UTF-8 does not change the rest")
    func mixed() throws {
        let old = try Encoder(.shiftJIS).bytes(of: Self.list("椎名林檎|正しい街|幸福論|茜さす 帰路照らされど…"))
        let list = PlaylistFile(parsing: old + Array("新しい.mp3\n".utf8), in: "/m")
        #expect(list.entries.last?.line == "新しい.mp3")
        #expect(list.entries.first?.line == "Music\\椎名林檎\\椎名林檎.mp3")
        let text = Array("Кино.mp3\nГруппа крови.mp3\nСпокойная ночь.mp3\n".utf8)
        let damaged = PlaylistFile(parsing: text + [0xD0, 0x93, 0xD1, 0x80, 0xD1], in: "/m")
        #expect(damaged.entries.first?.line == "Кино.mp3")
    }

    @Test("A backslash is one only where it is no part of a character")
    func backslashes() throws {
        // The second byte of 表 and of 能 is that of a backslash.
        let bytes = try Encoder(.shiftJIS).bytes(of: "C:\\椎名林檎\\表示する.mp3\n能力について.mp3\nひらがな.mp3\n")
        let entries = PlaylistFile(parsing: bytes, in: "/m").entries
        #expect(entries.first?.alternatives.contains("/m/椎名林檎/表示する.mp3") == true)
        #expect(entries.count == 3 && entries[1].alternatives.contains("/m/能力について.mp3"))
        let raw = try #require(entries[1].path)
        #expect(raw.hasPrefix("/m/") && !raw.dropFirst(3).contains("/"))
    }

    @Test("Any bytes are text")
    func anyBytes() {
        var generator = SeededRandom(3)
        for _ in 0..<200 {
            let bytes = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for encoding in TextEncoding.allCases {
                #expect(encoding.withSlashes(bytes).count == bytes.count && !encoding.text(of: bytes).isEmpty)
            }
        }
    }
}
