/// The version of the program. Only this line has it.
let tonearmVersion = "0.1.0"
