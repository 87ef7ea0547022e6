# Reads lines of tonearm.conf by the engine's rules (Sources/Appliance/Configuration/ConfigurationText.swift). Functions
# alone; `configuration-lines` has made the lines. For the bytes of a text, LC_ALL is C.
function trimmed(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}
# Whether only blanks or a comment follow.
function is_rest(text) { return text ~ /^[ \t]*$/ || text ~ /^[ \t]+[#;]/ }
function without_comment(text) {
    sub(/(^|[ \t])[#;].*$/, "", text)
    return trimmed(text)
}
# The name of a section or key: in small letters, with one blank between words.
function name_of(text) {
    gsub(/[ \t]+/, " ", text)
    return tolower(trimmed(text))
}
function is_utf8(text) {
    gsub(/[\302-\337][\200-\277]|\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277][\200-\277]/, "", text)
    gsub(/\355[\200-\237][\200-\277]|\360[\220-\277][\200-\277][\200-\277]/, "", text)
    gsub(/[\361-\363][\200-\277][\200-\277][\200-\277]|\364[\200-\217][\200-\277][\200-\277]/, "", text)
    return text !~ /[\200-\377]/
}
# Reads a line. Sets is: "section", "key" or nothing; section, key and value; fault: what is wrong, or nothing; note:
# what may be meant otherwise; is_cut: whether a comment that may belong to the value follows it.
function read_line(line, number,  sign, name, found) {
    is = fault = note = ""; is_cut = 0
    if (number == 1) sub(/^\357\273\277/, "", line)
    line = trimmed(line)
    if (line == "" || line ~ /^[#;]/) return
    if (line ~ /[\001-\010\013-\037\177]/) { fault = "control characters are not allowed"; return }
    if (!is_utf8(line)) { fault = "not valid UTF-8. Save the file as UTF-8"; return }
    if (line ~ /^\[/) { read_section(substr(line, 2), number); return }
    sign = index(line, "=")
    if (!sign) { fault = "\"" line "\" is neither a [section] nor key = value"; return }
    key = name_of(substr(line, 1, sign - 1))
    if (key == "") { fault = "there is no key before the ="; return }
    if (section_count == 0) { fault = "\"" key "\" comes before the first [section]"; return }
    read_value(trimmed(substr(line, sign + 1)))
    if (fault == "") is = "key"
}
function read_section(text, number,  end) {
    end = index(text, "]")
    section = name_of(end ? substr(text, 1, end - 1) : without_comment(text))
    if (!end || !is_rest(substr(text, end + 1)))
        fault = "a section is written [name], alone on its line; this line only begins [" section "]"
    if (section in first_line) fault = (fault == "" ? "" : fault ". ") "[" section "] begins in line " \
        first_line[section] " already. Move its lines there, or give it a name of its own"
    else first_line[section] = number
    section_count++
    is = "section"
}
function read_value(text,  at, sign, rest) {
    value = ""
    if (text !~ /^"/) {
        if (read_curly(text)) return
        value = without_comment(text)
        is_cut = length(value) < length(text)
        if (!is_cut && value ~ /\342\200[\234-\237\263]|\302[\253\273]|\357\274\202/)
            note = "the " key " has a curly quote in it, and is used so. Is a straight one meant, or none?"
        return
    }
    for (at = 2; at <= length(text); at++) {
        sign = substr(text, at, 1)
        if (sign == "\"") {
            if (!is_rest(substr(text, at + 1))) fault = "there is something after the closing quote"
            return
        }
        if (sign == "\\" && substr(text, at + 1, 1) ~ /["\\]/) sign = substr(text, ++at, 1)
        value = value sign
    }
    fault = "the closing quote is missing"
}
# Reads a value in quotes of a word processor, or in single ones. Returns whether there are some around it.
function read_curly(text,  any, rest, inside, at) {
    if (text ~ /^'/) {
        rest = substr(text, 2)
        at = index(rest, "'")
        if (!at || !is_rest(substr(rest, at + 1))) return 0
        return take_curly(substr(rest, 1, at - 1))
    }
    any = "^(\342\200[\230-\237\263\271\272]|\302[\253\273]|\357\274\202)"
    if (text !~ any) return 0
    match(text, any)
    rest = substr(text, RLENGTH + 1)
    for (at = 1; at <= length(rest); at++)
        if (match(inside = substr(rest, at), any) && is_rest(substr(inside, RLENGTH + 1)))
            return take_curly(substr(rest, 1, at - 1))
    for (at = 1; at <= length(rest); at++)
        if (substr(rest, at, 1) == "\"" && is_rest(substr(rest, at + 1))) return take_curly(substr(rest, 1, at - 1))
    return 0
}
function take_curly(text) {
    value = text
    note = "the " key " is used without the quotes around it. Write straight ones: " key " = \"…\""
    return 1
}
