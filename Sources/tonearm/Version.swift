/// What `tonearm --version` says; the one place where the version is written.
let tonearmVersion = "0.1.0"
