/// The version of the program. Only this line defines it.
let tonearmVersion = "0.2.0"

/// The release date, 2026-11-29, in seconds since 1970: a correct clock shows no earlier time.
let tonearmReleased: Int64 = 1_795_910_400

// The license of the program with the libraries in it. Apache-2.0 and GPL-2.0-or-later together are
// GPL-3.0-or-later. The notice is the one that the license of libfaad2 asks for.
#if AAC
    let tonearmLicense = """
        GPL-3.0-or-later, because AAC is decoded by libfaad2 (GPL-2.0-or-later). The other code is Apache-2.0.
        Code from FAAD2 is copyright (c) Nero AG, www.nero.com
        """
#else
    let tonearmLicense = "Apache-2.0"
#endif
