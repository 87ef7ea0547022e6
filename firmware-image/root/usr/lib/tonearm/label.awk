# The name of a medium's folder from its label. Needs configuration-text.awk.
{
    if (!is_utf8($0)) gsub(/[\200-\377]/, "_")
    # Control characters beyond ASCII, and what does not show or turns the text around.
    gsub(/\302[\200-\240]|\342\200[\213-\217\250-\256]|\342\201[\240-\257]|\357\273\277/, "_")
    gsub(/[\001-,\/:-@\[-^`{-\177]/, "_")
    sub(/^[.]/, "_")
    print
}
