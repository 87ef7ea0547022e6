import Foundation
import TestSupport

/// A picture of a real encoder, and the pixels that another decoder sees at the size of a thumbnail.
public struct EncodedPicture: Sendable, CustomStringConvertible {
    public let name: String
    public let file: [UInt8]
    /// The thumbnail in pixels.
    public let width: Int
    public let height: Int
    /// Red, green and blue, 8 bits each.
    public let pixels: [UInt8]

    public var description: String { name }

    /// The longer side of the thumbnails.
    public static let longestSide = 160

    /// All pictures, by name; made once in a run, with the Python library Pillow and ffmpeg.
    public static func all() throws -> [String: EncodedPicture] { try made.value("") { try make() } }

    public static func named(_ name: String) throws -> EncodedPicture {
        guard let picture = try all()[name] else { throw Unexpected("no picture \(name)") }
        return picture
    }

    private static let made = MadeOnce<[String: EncodedPicture]>()

    private static func make() throws -> [String: EncodedPicture] {
        let folder = try ScratchFolder()
        let result = try TestProcess.run("/usr/bin/python3", ["-c", script, folder.path, "\(longestSide)"])
        guard result.code == 0 else { throw Unexpected("the pictures: \(result.errors)") }
        var pictures: [String: EncodedPicture] = [:]
        for line in result.text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let width = Int(words[1]), let height = Int(words[2]) else { continue }
            func bytes(_ ending: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(fileURLWithPath: folder[words[0] + ending])))
            }
            pictures[words[0]] = EncodedPicture(
                name: words[0], file: try bytes(""), width: width, height: height, pixels: try bytes(".rgb"))
        }
        return pictures
    }

    /// Whether the programs that make them are here.
    public static let canBeMade = (try? TestProcess.run("/usr/bin/python3", ["-c", "import PIL"]).code) == 0

    private static let script = """
        import subprocess, sys
        from PIL import Image, ImageDraw, ImageOps
        folder, side = sys.argv[1], int(sys.argv[2])

        # Six times the size of the thumbnail: the filter of Pillow takes whole pixels.
        def base(size=(960, 600)):
            image = Image.effect_mandelbrot(size, (-2, -1.2, 1, 1.2), 60)
            other = Image.linear_gradient("L").resize(size)
            image = Image.merge("RGB", (image, other, other.transpose(Image.Transpose.ROTATE_180)))
            draw = ImageDraw.Draw(image)
            draw.rectangle((20, 30, size[0] // 3, size[1] // 4), fill=(250, 20, 30))
            draw.ellipse((size[0] // 2, size[1] // 2, size[0] - 9, size[1] - 40), fill=(10, 200, 90))
            return image

        def clear():
            image = base()
            image.putalpha(Image.radial_gradient("L").resize(image.size))
            return image

        def seen(image):
            image = ImageOps.exif_transpose(image)
            if image.mode in ("I", "I;16"):
                image = image.point(lambda value: value / 257).convert("L")
            if image.mode in ("RGBA", "LA", "P", "PA"):
                image = image.convert("RGBA")
                image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
            return image.convert("RGB")

        def reference(name):
            with Image.open(f"{folder}/{name}") as image:
                image.load()
                image = seen(image)
            longest = max(image.size)
            size = image.size
            if longest > side:
                size = tuple(max(1, (length * side * 2 + longest) // (longest * 2)) for length in size)
            open(f"{folder}/{name}.rgb", "wb").write(image.resize(size, Image.Resampling.BOX).tobytes())
            print(name, *size)

        def save(name, image, kind, **options):
            image.save(f"{folder}/{name}", kind, **options)
            reference(name)

        def exif(orientation):
            data = Image.Exif()
            data[0x0112] = orientation
            return data

        def converted(name, source, *options):
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", f"{folder}/{source}", *options,
                            f"{folder}/converted.png"], check=True)
            open(f"{folder}/{name}", "wb").write(open(f"{folder}/converted.png", "rb").read())
            reference(name)

        rgb = base()
        for sampling in 0, 1, 2:
            save(f"jpeg-sampling-{sampling}", rgb, "JPEG", quality=92, subsampling=sampling)
        save("jpeg-progressive", rgb, "JPEG", quality=92, progressive=True)
        large = rgb.resize((3000, 3000))
        save("jpeg-large", large, "JPEG", quality=90)
        save("jpeg-large-progressive", large, "JPEG", quality=90, subsampling=0, progressive=True)
        save("jpeg-grey", rgb.convert("L"), "JPEG", quality=92)
        save("jpeg-cmyk", rgb.convert("CMYK"), "JPEG", quality=92)
        save("jpeg-small", base((41, 29)), "JPEG", quality=95)
        save("jpeg-one-pixel", base((1, 1)), "JPEG")
        save("jpeg-thin", base((6, 1920)), "JPEG", quality=95)
        for orientation in range(1, 9):
            save(f"jpeg-turned-{orientation}", rgb, "JPEG", quality=92, exif=exif(orientation))
        save("png-rgb", rgb, "PNG")
        save("png-rgba", clear(), "PNG")
        save("png-grey", rgb.convert("L"), "PNG")
        save("png-grey-alpha", clear().convert("LA"), "PNG")
        save("png-bits", rgb.convert("1"), "PNG")
        save("png-palette", rgb.quantize(61), "PNG")
        save("png-palette-transparent", rgb.quantize(16), "PNG", transparency=3)
        save("png-turned", rgb, "PNG", exif=exif(6))
        save("png-small", base((13, 40)), "PNG")
        converted("png-rgb-16", "png-rgb", "-pix_fmt", "rgb48be")
        converted("png-interlaced", "png-rgba", "-flags", "+ildct")
        save("webp-lossy", rgb, "WEBP", quality=92)
        save("webp-lossless", rgb, "WEBP", lossless=True)
        save("webp-lossy-alpha", clear(), "WEBP", quality=92)
        save("webp-lossless-alpha", clear(), "WEBP", lossless=True, exact=True)
        save("webp-turned", rgb, "WEBP", quality=92, exif=exif(8))
        save("webp-small", base((30, 17)), "WEBP", lossless=True)
        frames = [base().transpose(Image.Transpose.FLIP_TOP_BOTTOM), rgb.convert("L").convert("RGB")]
        save("webp-animated", rgb, "WEBP", save_all=True, append_images=frames, duration=100, quality=92)
        save("webp-animated-alpha", clear(), "WEBP", save_all=True, append_images=frames, duration=100, quality=92)
        rgb.save(f"{folder}/picture.gif")
        """
}
