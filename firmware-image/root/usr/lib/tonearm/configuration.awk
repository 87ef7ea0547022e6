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
# A mistake in a network's section leaves out that network alone; any other one keeps the file from being applied.
function wrong(text) { tell(error_file, FNR, text) }
function wrong_network(name, line, text) {
    is_left_out[name] = 1
    tell(network_error_file, line, "[" title[name] "]: " text)
}
function tell(file, line, text) { print "tonearm.conf:" line ": " text >> file }
# Whether a value without quotes ends before a #, which may belong to it. It is used all the same.
function is_cut(text) { return text !~ /^"/ && text ~ /[ \t][#;]/ }
# Whether a quote is missing: then nobody knows where the value ends.
function lacks_quote(text) { return text ~ /^"/ && text !~ /^".*"[ \t]*([#;].*)?$/ }
function note_cut(key) {
    tell(note_file, FNR, "the " key " ends before the # or ;. If that belongs to it, put the whole of it in quotes: " \
        key " = \"…\"")
}
# The network of a section, by its exact title: a name of plain letters, and no other network's.
function network_of(section,  plain_name, unique, count) {
    if (section in known_network) return known_network[section]
    plain_name = section; sub(/^wifi /, "network.", plain_name); gsub(/[^A-Za-z0-9.-]/, "_", plain_name)
    unique = plain_name
    for (count = 2; unique in begins; count++) unique = plain_name "-" count
    network[++networks] = unique; begins[unique] = FNR; title[unique] = section
    return known_network[section] = unique
}
# What is wrong with a network's key, or nothing.
function network_mistake(key, value) {
    if (!index(known["wifi NAME"], " " key " ")) return "unknown key \"" key "\"; there are:" known["wifi NAME"]
    if (key == "ssid" && (value == "" || length(value) > 32)) return "an ssid has 1 to 32 characters"
    if (key == "password" && (length(value) < 8 || length(value) > 63)) return "a Wi-Fi password has 8 to 63 characters"
    if (key == "hidden" && value !~ /^(yes|no)$/) return "hidden is yes or no"
    if (key == "security" && value !~ /^(wpa2|wpa3|open)$/) return "security is wpa2, wpa3 or open"
    return ""
}
# Behind the last line of the first file: what a section as a whole lacks, and the networks that are whole.
function finish_networks(  number, name, key, keys, count, i) {
    count = split(known["wifi NAME"], keys, " ")
    for (number = 1; number <= networks; number++) {
        name = network[number]
        if (!(name in is_left_out) && !((name, "ssid") in of)) wrong_network(name, begins[name], "the ssid is missing")
        if (!(name in is_left_out) && of[name, "security"] ~ /^wpa/ && !((name, "password") in of))
            wrong_network(name, begins[name], "the password is missing; a network without one has security = open")
        if (name in is_left_out) continue
        for (i = 1; i <= count; i++) {
            key = keys[i]
            if ((name, key) in of && of[name, key] != "") print name "." key "=" of[name, key] > system_file
        }
    }
    networks = 0
}
BEGIN {
    known["image"] = " name dac serial-console "
    known["start"] = " queue "
    known["wifi"] = " country "
    known["wifi NAME"] = " ssid password hidden security "
}
FNR == 1 {
    section = ""; is_system = 0
    # The first file may be empty.
    file = FILENAME == ARGV[1] ? 1 : 2
    if (file == 1) sub(/^\357\273\277/, "")
    else finish_networks()
}
{ line = trimmed($0) }
file == 1 && line ~ /^\[/ {
    section = line; sub(/^\[/, "", section); sub(/\].*$/, "", section); section = trimmed(section)
    kind = section; sub(/^wifi .*/, "wifi NAME", kind)
    is_system = kind in known
    name = kind == "wifi NAME" ? network_of(section) : section
}
file == 1 && is_system {
    print "" > engine_file
    if (line == "" || line ~ /^[#;\[]/) next
    sign = index(line, "=")
    key = trimmed(substr(line, 1, sign - 1)); written = trimmed(substr(line, sign + 1)); value = plain(written)
    if (sign && is_cut(written) && key ~ /^(ssid|password|queue)$/) note_cut(key)
    if (kind == "wifi NAME") {
        mistake = sign ? network_mistake(key, value) : "\"" line "\" is not key = value"
        if (sign && lacks_quote(written)) mistake = "the " key " does not end with its quote"
        if (mistake != "") wrong_network(name, FNR, mistake)
        else of[name, key] = value
        next
    }
    if (!sign) { wrong("\"" line "\" is neither a [section] nor key = value"); next }
    if (lacks_quote(written)) { wrong("the " key " does not end with its quote"); next }
    if (!index(known[kind], " " key " ")) { wrong("unknown key \"" key "\" in [" section "]; there are:" known[kind]); next }
    if (key == "country" && value !~ /^[A-Z][A-Z]$/) { wrong("country is two capital letters, as in DE"); next }
    if (key == "dac" && value !~ /^(pcm5102a|pcm512x|max98357a|wm8804)?$/) { wrong("dac is pcm5102a, pcm512x, max98357a or wm8804"); next }
    if (key == "serial-console" && value !~ /^(yes|no)$/) { wrong(key " is yes or no"); next }
    if (key == "queue" && value !~ /^(\/.+|tonearm:.+)?$/) { wrong("queue is a folder or a file, as in /media/MY_MUSIC, or tonearm:track/ID"); next }
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
