# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the scripts beside it: where things are, what they say, what goes to a log.
set -eu
export LC_ALL=C

name=$(basename "$0")
room=$(cd "$(dirname "$0")/.." && pwd)
# BUILD names the folder of all that is built: build/ in a checkout, the user's cache elsewhere.
mkdir -p "${BUILD:=$room/../build}/vboard/log"
build=$(cd "$BUILD" && pwd)
out=$build/vboard
log=$out/log/$name.log
: >"$log"

step() {
	echo "[vboard] $*"
	echo "== $*" >>"$log"
}

die() { # what is wrong, what to do about it
	echo "error: $1" >&2
	[ $# -lt 2 ] || echo "hint: $2" >&2
	exit 1
}

# Runs a command with its output in the log, which is shown when the command fails.
logged() {
	echo "+ $*" >>"$log"
	if ! "$@" >>"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		die "$1 failed (above: the end of ${log})" "${hint-}"
	fi
}

# The downloaded files of the packages that go to $1.
debs_for() {
	awk -v role="$1" '{ for (i = 2; i <= NF; i++) if ($i == role) print $1 }' "$out/debs.list" |
		while read -r file; do echo "$out/debs/$file"; done
}

unpack() { # role, directory: a fresh directory with the packages of that role
	rm -rf "$2"
	mkdir -p "$2/usr/bin" "$2/usr/sbin" "$2/usr/lib"
	for dir in bin sbin lib; do ln -s "usr/$dir" "$2/$dir"; done
	for deb in $(debs_for "$1"); do
		# dpkg-deb replaces a symbolic link by a directory, so it unpacks beside and is merged.
		rm -rf "$2.part"
		mkdir "$2.part"
		logged dpkg-deb -x "$deb" "$2.part"
		logged cp -a --no-preserve=ownership "$2.part/." "$2/"
	done
	rm -rf "$2.part"
}
