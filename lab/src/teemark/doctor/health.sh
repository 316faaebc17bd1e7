# SPDX-License-Identifier: BSD-2-Clause
# Lines "FACT VALUE" of what a shell can tell of a board's health. POSIX shell, no awk: toybox and
# busybox will do. What can't be read has no line.

# The first line of file $2.
first() {
	line=
	[ -r "$2" ] && read -r line <"$2"
	[ -z "$line" ] || echo "$1 $line"
}

# The modules of the TEE and of crypto in file $2, whose lines begin with a module's name or path.
modules() {
	[ -r "$2" ] || return
	echo "$1"
	sed 's/[ :].*//; s,.*/,,; s/\..*//' "$2" |
		grep -E 'tee|alg|crypto|sha|aes|ghash|omap|caam|rng|drbg|kcapi' |
		while read -r name; do echo "$1 $name"; done
}

trace=/sys/kernel/tracing
[ -r $trace/current_tracer ] || trace=/sys/kernel/debug/tracing
echo "user $(id -un)"
first tracer $trace/current_tracer
first trace_events $trace/events/enable
first throttled /sys/devices/platform/soc/soc:firmware/get_throttled # a Raspberry Pi's firmware tells
first rng_available /sys/class/misc/hw_random/rng_available
df -Pk "${TEEMARK_DIR:-.}" | { read -r _; read -r _ _ _ free _ && echo "disk_free_kib $free"; }
echo devices
for device in /dev/tee0 /dev/tee1 /dev/teepriv0 /dev/hwrng /dev/kmsg /dev/crypto /dev/rpmb0 /dev/random; do
	[ -e $device ] && ls -l $device | { read -r mode _ user group _; echo "devices $device ${mode#?} $user $group"; }
done
modules modules /proc/modules
modules modules_there "/lib/modules/$(uname -r)/modules.dep"
exit 0
