# Splits tonearm.conf: of the system's sections, the lines without mistakes become SECTION.KEY=VALUE in system_file; the
# engine's go to engine_file, line by line, so that the engine's messages name the right lines. Mistakes go to error_file,
# lines that may be meant otherwise to note_file. Needs configuration-text.awk.
function wrong(line, text) { print "tonearm.conf:" line ": " text >> error_file }
function tell(line, text) { print "tonearm.conf:" line ": " text >> note_file }
function note_cut() {
    tell(FNR, "the " key " ends before the # or ;. If that belongs to it, put the whole of it in quotes: " key \
        " = \"…\". Otherwise begin a line with the comment")
}
# A section [wifi NAME] begins: a network of its own.
function begin_network() { title[++networks] = section; begins[networks] = FNR }
# A line of a network with a mistake leaves out that network, and no other one.
function wrong_network(name, line, text) {
    is_left_out[name] = 1
    wrong(line, "[" title[name] "]: " text ". The network is not used as it is here")
}
# What is wrong with a value, or nothing.
function mistake_in(kind, key, value) {
    if (!index(known[kind], " " key " ")) return "unknown key \"" key "\" in [" section "]; there are:" known[kind]
    if (kind == "wifi NAME") {
        if (key == "ssid" && (value == "" || length(value) > 32)) return "an ssid has 1 to 32 characters"
        if (key == "password" && !is_password(value)) return "a Wi-Fi password has 8 to 63 characters, or is a key of 64 digits"
        if (key == "hidden" && value !~ /^(yes|no)$/) return "hidden is yes or no"
        if (key == "security" && value !~ /^(wpa2|wpa3|open)$/) return "security is wpa2, wpa3 or open"
        return ""
    }
    if (key == "country" && value !~ /^[A-Z][A-Z]$/) return "country is two capital letters, as in DE"
    if (key == "serial-console" && value !~ /^(yes|no)$/) return key " is yes or no"
    if (key == "queue" && value !~ /^(\/.+|tonearm:.+)?$/) return "queue is a folder or a file, as in /media/MY_MUSIC, or tonearm:track/ID"
    if (key == "name" && value !~ /^[A-Za-z0-9][A-Za-z0-9-]*$/) return "name is letters, digits and -"
    return ""
}
# IEEE 802.11, J.4: 8 to 63 characters, or the key itself in 64 digits.
function is_password(value) {
    if (length(value) == 64) return value !~ /[^0-9A-Fa-f]/
    return length(value) >= 8 && length(value) <= 63
}
# A label of DNS, and Linux, take 63 letters.
function shortened(value) {
    if (length(value) <= 63) return value
    tell(FNR, "the name has " length(value) " letters, and 63 are allowed: the first ones are used")
    value = substr(value, 1, 63)
    sub(/-+$/, "", value)
    return value
}
function read_network(  text) {
    text = mistake_in(kind, key, value)
    if (text != "") wrong_network(networks, FNR, text)
    else if ((networks, key) in of) wrong_network(networks, FNR, key " was set in line " line_of[networks, key] " already")
    else { of[networks, key] = value; line_of[networks, key] = FNR }
    if (key == "password" && note == "" && value ~ /\342\200[\230-\233\271\272]/)
        tell(FNR, "the password has a curly quote in it, and is used so. Is a straight one meant, or none?")
}
function read_setting(  text) {
    text = mistake_in(kind, key, value)
    if (text == "" && (section, key) in line_of) text = key " was set in line " line_of[section, key] " already"
    if (text != "") { wrong(FNR, text); return }
    line_of[section, key] = FNR
    # The table of HATs is the engine's: `configuration` asks it.
    if (section == "image" && key == "dac") print FNR > dac_file
    if (section == "image" && key == "name") value = shortened(value)
    print section "." key "=" value > system_file
}
# What a network as a whole lacks, or nothing.
function lack(name) {
    if (!((name, "ssid") in of)) return "the ssid is missing"
    if (of[name, "security"] ~ /^wpa/ && !((name, "password") in of))
        return "the password is missing; a network without one has security = open"
    if (of[name, "security"] == "wpa3" && length(of[name, "password"]) == 64)
        return "a key of 64 digits is for wpa2; wpa3 needs the password itself"
    return ""
}
function write_networks(  name, plain, i, key, keys, count) {
    count = split(known["wifi NAME"], keys, " ")
    for (name = 1; name <= networks; name++) {
        if (!(name in is_left_out) && lack(name) != "") wrong_network(name, begins[name], lack(name))
        plain = title[name]; sub(/^wifi /, "network.", plain); gsub(/[^A-Za-z0-9.-]/, "_", plain)
        if (plain in taken) {
            for (i = 2; (plain "-" i) in taken; i++) continue
            plain = plain "-" i
        }
        taken[plain] = 1
        if (name in is_left_out) continue
        for (i = 1; i <= count; i++) {
            key = keys[i]
            if ((name, key) in of && of[name, key] != "") print plain "." key "=" of[name, key] > system_file
        }
    }
}
BEGIN {
    known["image"] = " name dac serial-console "
    known["start"] = " queue "
    known["wifi"] = " country "
    known["wifi NAME"] = " ssid password hidden security "
}
{ read_line($0, FNR) }
is == "section" {
    kind = section; sub(/^wifi .*/, "wifi NAME", kind)
    is_system = kind in known
    if (kind == "wifi NAME") begin_network()
}
# The engine says itself what is wrong in its sections, and with a key before the first one.
!is_system { print > engine_file; next }
{
    print "" > engine_file
    if (is == "section") { if (fault != "") wrong(FNR, fault); next }
    if (fault != "") { if (kind == "wifi NAME") wrong_network(networks, FNR, fault); else wrong(FNR, fault); next }
    if (is != "key") next
    if (note != "") tell(FNR, note)
    if (is_cut && key ~ /^(name|ssid|password|queue)$/) note_cut()
    if (kind == "wifi NAME") read_network(); else read_setting()
}
END { write_networks() }
