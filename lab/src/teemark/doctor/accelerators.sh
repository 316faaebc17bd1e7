# SPDX-License-Identifier: BSD-2-Clause
# Asks the kernel's crypto devices, and says who worked: AF_ALG by a driver's name; tcrypt, the kernel's
# own test, which computes in the kernel as IPsec does; dm-crypt; OpenSSL's engines. Needs root.
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

# The interrupts of all devices in $found.
all_interrupts() {
	echo "$found" | while read -r _ _ device; do echo "$device $(interrupts "$device")"; done | sort -u
}

# Runs a command and says how long it took, and which devices raised interrupts meanwhile.
asked_by() { # words
	before=$(all_interrupts)
	read -r begin _ </proc/uptime
	"$@" >/dev/null 2>&1 || { echo "failed"; return; }
	read -r end _ </proc/uptime
	took=$((${end%.*}${end#*.} - ${begin%.*}${begin#*.}))
	echo "16 MiB in $((took / 100)).$(printf %02d $((took % 100))) s; $(
		[ "$(all_interrupts)" = "$before" ] && echo "no device raised" || echo "a device raised") interrupts meanwhile"
}

# dm-crypt over a file in memory; it names the drivers that it takes in the kernel's debug messages.
by_dm_crypt() {
	command -v cryptsetup >/dev/null || { echo "not asked: there is no cryptsetup"; return; }
	folder=$(mktemp -d) name=teemark-accelerators control=/sys/kernel/debug/dynamic_debug/control
	modprobe -a dm-crypt loop 2>/dev/null
	echo 'module dm_crypt +p' 2>/dev/null >"$control"
	echo "$mark dm-crypt" >/dev/kmsg
	[ -e /run/udev/control ] || export DM_DISABLE_UDEV=1
	mount -t tmpfs -o size=20m teemark "$folder" && dd if=/dev/zero of="$folder/disk" bs=1M count=16 2>/dev/null
	if said=$(head -c 16 /dev/zero | cryptsetup open --type plain --cipher aes-cbc-plain64 --key-size 128 \
		--key-file - "$folder/disk" $name 2>&1); then
		told=$(asked_by dd if=/dev/zero of=/dev/mapper/$name bs=1M count=16 conv=fsync)
		driver=$(dmesg | sed -n "/$mark dm-crypt/,\$ s/.*using implementation \"\(.*\)\".*/\1/p")
		echo "${driver:-a driver that it does not name}, $told; since Linux 5.9 it refuses drivers that allocate memory"
		cryptsetup close $name
	else
		echo "not asked: $said"
	fi
	umount "$folder" && rmdir "$folder"
	echo 'module dm_crypt -p' 2>/dev/null >"$control"
}

# Which of OpenSSL's engines for the kernel's crypto can be used.
engines() {
	command -v openssl >/dev/null || { echo "no openssl"; return; }
	for engine in afalg devcrypto; do
		case $(openssl engine -t $engine 2>/dev/null) in
		*"[ available ]"*)
			if [ "$(by_engine $engine | sha256sum)" = "$(by_engine | sha256sum)" ]; then
				echo "$engine, aes-128-cbc: $(asked_by by_engine $engine)"
			else
				echo "$engine: its result is wrong"
			fi
			;;
		*) echo "$engine: not there" ;;
		esac
	done
}
by_engine() { # without a name: without an engine
	head -c 16777216 /dev/zero | openssl enc ${1:+-engine "$1"} -aes-128-cbc -nosalt \
		-K 00112233445566778899aabbccddeeff -iv 00112233445566778899aabbccddeeff 2>/dev/null
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
before=$(all_interrupts)
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
echo "dm-crypt, aes-cbc: $(by_dm_crypt)"
engines | while read -r told; do echo "OpenSSL's engine $told"; done
[ -e /dev/crypto ] && echo "cryptodev: /dev/crypto is there" || echo "cryptodev: no /dev/crypto"
