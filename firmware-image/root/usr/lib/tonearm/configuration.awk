# Splits tonearm.conf, the first file: the system's sections become SECTION.KEY=VALUE in system_file, the engine's go to
# engine_file, line by line, so that the engine's messages name the right lines. Of the second file, appliance.conf, come
# the settings that the first one does not have.
function trimmed(text) {
    gsub(/^[ \t\r]+|[ \t\r]+$/, "", text)
    return text
}
function plain(text) {
    if (text ~ /^"/) { sub(/^"/, "", text); sub(/"[ \t]*([#;].*)?$/, "", text); return text }
    sub(/(^|[ \t])[#;].*$/, "", text)
    return trimmed(text)
}
function wrong(text) { print "tonearm.conf:" FNR ": " text >> error_file }
BEGIN {
    known["image"] = " name dac serial-console "
    known["wifi"] = " country "
    known["network"] = " ssid password hidden security "
}
FNR == 1 {
    section = ""; is_system = 0
    # The first file may be empty.
    file = FILENAME == ARGV[1] ? 1 : 2
    if (file == 1) sub(/^\357\273\277/, "")
}
{ line = trimmed($0) }
file == 1 && line ~ /^\[/ {
    section = line; sub(/^\[/, "", section); sub(/\].*$/, "", section); section = trimmed(section)
    kind = section; sub(/^wifi .*/, "network", kind)
    is_system = kind in known
    name = section; sub(/^wifi /, "network.", name); gsub(/[^A-Za-z0-9.-]/, "_", name)
}
file == 1 && is_system {
    print "" > engine_file
    if (line == "" || line ~ /^[#;\[]/) next
    sign = index(line, "=")
    if (!sign) { wrong("\"" line "\" is neither a [section] nor key = value"); next }
    key = trimmed(substr(line, 1, sign - 1)); value = plain(trimmed(substr(line, sign + 1)))
    if (!index(known[kind], " " key " ")) { wrong("unknown key \"" key "\" in [" section "]; there are:" known[kind]); next }
    if (kind == "network" && key == "ssid" && value == "") { wrong("a network needs an ssid"); next }
    if (key == "password" && (length(value) < 8 || length(value) > 63)) { wrong("a Wi-Fi password has 8 to 63 characters"); next }
    if (key == "country" && value !~ /^[A-Z][A-Z]$/) { wrong("country is two capital letters, as in DE"); next }
    if (key == "dac" && value !~ /^(pcm5102a|pcm512x|max98357a|wm8804)?$/) { wrong("dac is pcm5102a, pcm512x, max98357a or wm8804"); next }
    if ((key == "hidden" || key == "serial-console") && value !~ /^(yes|no)$/) { wrong(key " is yes or no"); next }
    if (key == "security" && value !~ /^(wpa2|wpa3|open)$/) { wrong("security is wpa2, wpa3 or open"); next }
    if (key == "name" && value !~ /^[A-Za-z0-9][A-Za-z0-9-]*$/) { wrong("name is letters, digits and -"); next }
    print name "." key "=" value > system_file
    next
}
file == 1 {
    print > engine_file
    if (line ~ /^[#;]/) next
    sign = index(line, "=")
    if (sign) set[section "." trimmed(substr(line, 1, sign - 1))] = 1
    next
}
line ~ /^\[/ { section = substr(line, 2, length(line) - 2); next }
line != "" && line !~ /^#/ {
    key = trimmed(substr(line, 1, index(line, "=") - 1))
    if (!((section "." key) in set)) print "[" section "]\n" line > engine_file
}
