# Splits tonearm.conf, the first file: the system's sections become SECTION.KEY=VALUE in system_file, the engine's go to
# engine_file, line by line, so that the engine's messages name the right lines. Of the second file, appliance.conf, come
# the settings that the first one does not have.
function trimmed(text) {
    gsub(/^[ \t\r]+|[ \t\r]+$/, "", text)
    return text
}
# Reads a value by the engine's rules (Sources/Appliance/Configuration/ConfigurationText.swift). Sets value, is_cut:
# whether a comment that may belong to it follows a value without quotes, and fault: why it cannot be read, or nothing.
function read_value(text,  at, sign, rest) {
    value = fault = ""; is_cut = 0
    if (text !~ /^"/) {
        value = text
        is_cut = sub(/(^|[ \t\r])[#;].*$/, "", value)
        value = trimmed(value)
        return
    }
    for (at = 2; at <= length(text); at++) {
        sign = substr(text, at, 1)
        if (sign == "\"") {
            rest = substr(text, at + 1)
            if (rest !~ /^[ \t\r]*$/ && rest !~ /^[ \t\r]+[#;]/) fault = "has something after its closing quote"
            return
        }
        if (sign == "\\" && substr(text, at + 1, 1) ~ /["\\]/) sign = substr(text, ++at, 1)
        value = value sign
    }
    fault = "does not end with its quote"
}
# A mistake in a network's section leaves out that network alone; any other one keeps the file from being applied.
function wrong(text) { tell(error_file, FNR, text) }
function wrong_network(name, line, text) {
    is_left_out[name] = 1
    tell(network_error_file, line, "[" title[name] "]: " text)
}
function tell(file, line, text) { print "tonearm.conf:" line ": " text >> file }
function note_cut(key) {
    tell(note_file, FNR, "the " key " ends before the # or ;. If that belongs to it, put the whole of it in quotes: " \
        key " = \"…\". Otherwise begin a line with the comment")
}
# A section [wifi NAME] begins: a network of its own, or a part of one.
function begin_part(section) { title[++parts] = section; begins[parts] = FNR; return parts }
function set_key(name, key, value, line) {
    if ((name, key) in of) return wrong_network(name, line, key " was set in line " line_of[name, key] " already")
    of[name, key] = value; line_of[name, key] = line
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
# Behind the last line of the first file: joins the parts of networks, as each has one ssid, and names the networks.
function join_parts(keys, count,  part, name, other, i, plain_name) {
    for (part = 1; part <= parts; part++) {
        name = other = 0
        for (i = 1; i < part; i++) if (title[i] == title[part] && i in network) {
            other = i
            if (!((i, "ssid") in of && (part, "ssid") in of)) name = i
        }
        if (name) {
            for (i = 1; i <= count; i++)
                if ((part, keys[i]) in of) set_key(name, keys[i], of[part, keys[i]], line_of[part, keys[i]])
            if (part in is_left_out) is_left_out[name] = 1
            continue
        }
        plain_name = title[part]; sub(/^wifi /, "network.", plain_name); gsub(/[^A-Za-z0-9.-]/, "_", plain_name)
        network[part] = plain_name
        for (i = 2; network[part] in taken; i++) network[part] = plain_name "-" i
        taken[network[part]] = 1
        if (other) tell(note_file, begins[part], "[" title[part] "] begins in line " begins[other] " already. Both " \
            "networks are used; give each section a name of its own")
    }
}
# What a section as a whole lacks, and the networks that are whole.
function finish_networks(  name, key, keys, count, i) {
    count = split(known["wifi NAME"], keys, " ")
    join_parts(keys, count)
    for (name = 1; name <= parts; name++) {
        if (!(name in network)) continue
        if (!(name in is_left_out) && !((name, "ssid") in of)) wrong_network(name, begins[name], "the ssid is missing")
        if (!(name in is_left_out) && of[name, "security"] ~ /^wpa/ && !((name, "password") in of))
            wrong_network(name, begins[name], "the password is missing; a network without one has security = open")
        if (name in is_left_out) continue
        for (i = 1; i <= count; i++) {
            key = keys[i]
            if ((name, key) in of && of[name, key] != "") print network[name] "." key "=" of[name, key] > system_file
        }
    }
    parts = 0
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
    name = kind == "wifi NAME" ? begin_part(section) : section
    if (is_system && line !~ /^\[[^]]*\]([ \t\r]+[#;].*)?$/) {
        mistake = "a section is written [name], alone on its line"
        if (kind == "wifi NAME") wrong_network(name, FNR, mistake); else wrong(mistake)
    }
}
file == 1 && is_system {
    print "" > engine_file
    if (line == "" || line ~ /^[#;\[]/) next
    sign = index(line, "=")
    key = trimmed(substr(line, 1, sign - 1)); read_value(trimmed(substr(line, sign + 1)))
    if (sign && is_cut && key ~ /^(name|ssid|password|queue)$/) note_cut(key)
    if (kind == "wifi NAME") {
        mistake = sign ? network_mistake(key, value) : "\"" line "\" is not key = value"
        if (sign && fault != "") mistake = "the " key " " fault
        if (mistake != "") wrong_network(name, FNR, mistake)
        else set_key(name, key, value, FNR)
        next
    }
    if (!sign) { wrong("\"" line "\" is neither a [section] nor key = value"); next }
    if (fault != "") { wrong("the " key " " fault); next }
    if (!index(known[kind], " " key " ")) { wrong("unknown key \"" key "\" in [" section "]; there are:" known[kind]); next }
    if ((section, key) in line_of) { wrong(key " was set in line " line_of[section, key] " already"); next }
    line_of[section, key] = FNR
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
