# What U-Boot does on every board (docs/firmware-image.md, "How it starts"). firmware-image/build fills in @…@.
# The boot state is kept twice, one sector each: seq counts the writes (the higher one holds), slot is to be started,
# good has proved itself, tries is what an unproved slot has left; misses, data and dac are for Linux alone. A write goes
# over the older copy; where the card does not take that any more, over the other. A command has at most 16 words.
${devtype} dev ${devnum}
setenv seq
setenv seq1 0
setenv seq2 0
${devtype} read @WORK@ @STATE1@ 1
if env import -c @WORK@ 0x200; then setenv seq1 ${seq}; fi
${devtype} read @WORK@ @STATE2@ 1
# An import keeps what only the other copy has.
setenv overlay; setenv dac; setenv console; setenv failed; setenv misses; setenv data
if env import -c @WORK@ 0x200; then setenv seq2 ${seq}; fi
setenv older @STATE1@
if itest ${seq1} -gt ${seq2}; then
    setenv older @STATE2@
    ${devtype} read @WORK@ @STATE1@ 1
    setenv overlay; setenv dac; setenv console; setenv failed; setenv misses; setenv data
    env import -c @WORK@ 0x200
fi
if test -z "${seq}"; then setenv seq 0; setenv slot a; setenv good a; setenv tries 0; setenv older @STATE1@; fi
# Silent (uboot.env) unless the serial console was asked for.
if test -n "${console}"; then setenv stdout serial; setenv stderr serial; fi
setenv save 'setexpr seq ${seq} + 1; env export -c -s 0x200 @WORK@ seq slot good tries failed misses data overlay dac console; ${devtype} write @WORK@ ${older} 1 || ${devtype} write @WORK@ @STATE1@ 1 || ${devtype} write @WORK@ @STATE2@ 1'
if test "${slot}" != "${good}"; then
    if itest ${tries} -gt 0; then
        setexpr tries ${tries} - 1
    else
        setenv failed ${slot}
        setenv slot ${good}
    fi
    run save
fi
if test "${slot}" = a; then setenv order "a b"; else setenv order "b a"; fi
setenv fdt @FDT@
if test -n "${overlay}"; then
    fdt addr ${fdt}
    fdt resize 0x4000
    if load ${devtype} ${devnum}:1 @WORK@ overlays/${overlay}.dtbo; then fdt apply @WORK@; fi
fi
for s in ${order}; do
    if test ${s} = a; then part start ${devtype} ${devnum} 2 begin; else part start ${devtype} ${devnum} 3 begin; fi
    setexpr place ${begin} + @HEADER@
    ${devtype} read @WORK@ ${place} 1
    if env import -c @WORK@ 0x200; then
        setexpr place ${begin} + ${kernel}
        ${devtype} read @KERNEL@ ${place} ${kernel_sectors}
        setexpr place ${begin} + ${ramdisk}
        ${devtype} read @RAMDISK@ ${place} ${ramdisk_sectors}
        setenv bootargs "tonearm.slot=${s} tonearm.disk=@DISK@ panic=5 loglevel=4 printk.devkmsg=on @ARGUMENTS@ ${console}"
        bootm @KERNEL@ @RAMDISK@ ${fdt}
    fi
done
echo No slot can be started: write the card again.
sleep 10
reset
