/// Text in which a letter and its accent are one scalar (NFC): Latin, Greek and Cyrillic letters, kana and Hangul. Two
/// normal forms of a name become one name.
///
///     ComposedText.of("Bjo\u{308}rk")      // "Björk"
///
/// Any thread.
package enum ComposedText {
    package static func of(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        var scalars: [UInt32] = []
        for scalar in text.unicodeScalars {
            if let last = scalars.last, let composed = composed(last, scalar.value) {
                scalars[scalars.count - 1] = composed
            } else {
                scalars.append(scalar.value)
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in scalars { FoldedText.append(scalar: scalar, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func composed(_ base: UInt32, _ mark: UInt32) -> UInt32? {
        switch mark {
        case 0x300...0x331:
            pairs(of: mark).withUTF8Buffer { bytes in
                var scalars = bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self).unicodeScalars.makeIterator()
                while let letter = scalars?.next(), let composed = scalars?.next() {
                    if letter.value == base { return composed.value }
                }
                return nil
            }
        // Voiced kana follow the plain kana in Unicode.
        case 0x3099:
            switch base {
            case 0x3046, 0x30A6: base + 0x4E
            case 0x304B...0x3061, 0x30AB...0x30C1: base & 1 == 1 ? base + 1 : nil
            case 0x3064, 0x3066, 0x3068, 0x309D, 0x30C4, 0x30C6, 0x30C8: base + 1
            case 0x306F...0x307B, 0x30CF...0x30DB: base % 3 == 0 ? base + 1 : nil
            default: nil
            }
        case 0x309A:
            switch base {
            case 0x306F...0x307B, 0x30CF...0x30DB: base % 3 == 0 ? base + 2 : nil
            default: nil
            }
        // Hangul (Unicode Standard, 3.12): a leading consonant with a vowel, and that with a trailing consonant.
        case 0x1161...0x1175:
            (0x1100...0x1112).contains(base) ? 0xAC00 + ((base - 0x1100) * 21 + mark - 0x1161) * 28 : nil
        case 0x11A8...0x11C2:
            (0xAC00...0xD7A3).contains(base) && (base - 0xAC00) % 28 == 0 ? base + mark - 0x11A7 : nil
        default: nil
        }
    }

    /// Returns the letters that can be composed with a mark, each followed by the composed form.
    private static func pairs(of mark: UInt32) -> StaticString {
        switch mark {
        case 0x300: "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêềÔỒôồƠỜơờƯỪưừYỲyỳ"
        case 0x301:
            """
            AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻÆǼæǽØǾøǿΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοό\
            υύωώГЃКЌгѓкќÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤâấĂẮăắÊẾêếÔỐôốƠỚơớƯỨưứ
            """
        case 0x302: "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ"
        case 0x303: "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ"
        case 0x304: "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣУӮуӯGḠgḡḶḸḷḹṚṜṛṝ"
        case 0x306: "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặ"
        case 0x307:
            """
            CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ
            """
        case 0x308:
            """
            AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤиӥОӦоӧӨӪөӫЭӬэӭУӰуӱЧӴчӵЫӸыӹHḦhḧÕṎõṏŪṺūṻ\
            WẄwẅXẌxẍtẗ
            """
        case 0x309: "AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ"
        case 0x30A: "AÅaåUŮuůwẘyẙ"
        case 0x30B: "OŐoőUŰuűУӲуӳ"
        case 0x30C: "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ"
        case 0x30F: "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕѴѶѵѷ"
        case 0x311: "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ"
        case 0x31B: "OƠoơUƯuư"
        case 0x323: "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ"
        case 0x324: "UṲuṳ"
        case 0x325: "AḀaḁ"
        case 0x326: "SȘsșTȚtț"
        case 0x327: "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ"
        case 0x328: "AĄaąEĘeęIĮiįUŲuųOǪoǫ"
        case 0x32D: "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ"
        case 0x32E: "HḪhḫ"
        case 0x330: "EḚeḛIḬiḭUṴuṵ"
        case 0x331: "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"
        default: ""
        }
    }
}
