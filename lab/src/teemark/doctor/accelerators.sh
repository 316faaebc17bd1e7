# SPDX-License-Identifier: BSD-2-Clause
# Asks the kernel's crypto devices in two ways, and says who worked: AF_ALG by a driver's name, and
# tcrypt, the kernel's own test, which computes in the kernel as dm-crypt and IPsec do. Needs root.
# tcrypt never stays loaded. POSIX shell, no awk: toybox and busybox will do.
set -f
mark="teemark accelerators $$"

# A line "DRIVER NAME DEVICE" for each digest and cipher in /proc/crypto of a module that serves a device.
devices() {
	while read -r key _ value; do
		case $key in
		name) name=$value ;;
		driver) driver=$value ;;
		module) module=$value ;;
		type)
			case $value in skcipher | ahash) ;; *) continue ;; esac
			set +f
			for device in /sys/module/"$module"/drivers/*/*/uevent; do
				set -f
				device=${device%/uevent}
				case $device in */module | *"*") continue ;; esac
				echo "$driver $name ${device##*/}"
			done
			set -f
			;;
		esac
	done </proc/crypto
}

# The interrupts so far whose line names the device $1.
interrupts() {
	sum=0
	while read -r _ rest; do
		case "$rest " in *"$1"[!0-9]*) ;; *) continue ;; esac
		for count in $rest; do
			case $count in *[!0-9]*) break ;; esac
			sum=$((sum + count))
		done
	done </proc/interrupts
	echo "$sum"
}

# The case of teebench that binds an AF_ALG socket to driver $1, which computes $2.
case_of() {
	case $2 in
	"cbc(aes)") echo "cipher/aes-128-cbc/afalg:$1/enc/4096" ;;
	sha1 | sha256) echo "oneshot/$2/afalg:$1/4096" ;;
	esac
}

by_socket() {
	key=$(case_of "$1" "$2")
	[ "$key" ] || return 0
	said=$(teebench --samples 1 --min-us 0 "$key" 2>/dev/null)
	case $said in
	*'"type":"sample"'*) echo "  AF_ALG: reaches it" ;;
	*'"reason":"'*)
		why=${said##*\"reason\":\"}
		echo "  AF_ALG: doesn't reach it: ${why%%\"*}"
		;;
	*) echo "  AF_ALG: not told" ;;
	esac
}

# Runs tcrypt's mode $1 and prints its lines of the kernel's log.
tcrypt() {
	echo "$mark $1" >/dev/kmsg
	modprobe tcrypt mode="$1" sec=0 2>/dev/null  # always ends with an error, so that it isn't left
	dmesg | {
		while read -r line; do case $line in *"$mark $1") break ;; esac; done
		while read -r line; do echo "$line"; done
	}
}

# A line "TESTS NAME DRIVER" for each table of tcrypt's: the driver that it took. A test is 4 operations, or
# more, and 8 that are timed.
taken() {
	driver='' tests=0
	while read -r line; do
		case $line in
		*"testing speed of "*)
			[ "$tests" = 0 ] || echo "$tests $name $driver"
			line=${line##*testing speed of } line=${line#async } line=${line#sync }
			name=${line%% (*} driver=${line#* (} driver=${driver%)*} tests=0
			;;
		*" operation in "*" cycles ("* | *" cycles/operation"*) tests=$((tests + 1)) ;;
		esac
	done
	[ "$tests" = 0 ] || echo "$tests $name $driver"
}

[ "$(id -u)" = 0 ] || { echo "root is needed: tcrypt is a module of the kernel"; exit 1; }
found=$(devices)
[ "$found" ] || echo "no driver in /proc/crypto has a device"
before=$(echo "$found" | while read -r driver name device; do echo "$device $(interrupts "$device")"; done)
asked=$(for mode in 403 404 500; do tcrypt $mode; done | taken)
after=$(echo "$before" | while read -r device count; do echo "$device $(($(interrupts "$device") - count))"; done)
raised() { echo "$after" | while read -r device count; do [ "$device" = "$1" ] && echo "$count" && break; done; }

echo "$found" | while read -r driver name device; do
	[ "$driver" ] || continue
	echo "$driver ($name), device $device"
	tests=0
	while read -r count _ by; do
		[ "$by" = "$driver" ] && tests=$((tests + count))
	done <<-END
		$asked
	END
	echo "  tcrypt: $tests tests of 12 operations by it; $(raised "$device") interrupts of $device meanwhile"
	by_socket "$driver" "$name"
done
if [ "$asked" ]; then
	echo "tcrypt took:"
	echo "$asked" | while read -r _ name by; do echo "  $name: $by"; done | sort -u
else
	echo "tcrypt said nothing: is it there (CONFIG_CRYPTO_TEST=m), and the kernel's log long enough for it?"
fi
