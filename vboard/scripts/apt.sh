# SPDX-License-Identifier: BSD-2-Clause
# Sourced after lib.sh: a private apt root in $apt. The host's package state is neither used nor
# touched, and root is not needed.

# Where the host gets its packages from; works before any apt-get update too.
host_sites() {
	if [ -n "${TEEMARK_DEBIAN_MIRROR:-}" ]; then
		echo "${TEEMARK_DEBIAN_MIRROR%/}"
		return
	fi
	mkdir -p "$apt/host/lists/partial"
	apt-get -o Dir::State="$apt/host" -o Dir::Cache="$apt/host" update --print-uris 2>>"$log" |
		sed -n "s,^'\(.*\)/dists/[^/]*/InRelease'.*,\1,p" |
		grep -v -e '-security$' | awk '!seen[$0]++'
}

# The host's keys for Debian's archive; TEEMARK_DEBIAN_KEYRING names another file.
host_keyring() {
	for file in "${TEEMARK_DEBIAN_KEYRING:-}" \
		/usr/share/keyrings/debian-archive-keyring.pgp \
		/usr/share/keyrings/debian-archive-keyring.gpg; do
		[ ! -s "$file" ] || { echo "$file" && return; }
	done
	die "this machine has no keys to check Debian's packages with" \
		"install the package debian-archive-keyring"
}

write_config() { # the architecture of the packages, arm64 unless named
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	# Proxies, retries and the like are the host's; its hooks and pins are not wanted.
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Force|Max-|Min-)' >"$apt/apt.conf" || true
	cat >>"$apt/apt.conf" <<-EOF
		Dir::Etc::main "/dev/null";
		Dir::Etc::parts "/dev/null";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$apt/state";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		APT::Architecture "${1:-arm64}";
		APT::Architectures { "${1:-arm64}"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
	EOF
	# The user's own, last: NAME=VALUE words
	for option in ${TEEMARK_APT_OPTIONS:-}; do
		echo "${option%%=*} \"${option#*=}\";" >>"$apt/apt.conf"
	done
}

private() { # an apt command, on the private root
	APT_CONFIG="$apt/apt.conf" "$@"
}

update() {
	echo "+ apt-get update ($(head -n 1 "$apt/sources.list"))" >>"$log"
	private apt-get -q --error-on=any update >"$apt/update.log" 2>&1 </dev/null && rc=0 || rc=$?
	cat "$apt/update.log" >>"$log"
	return $rc
}

# Downloads packages of the first suite that a mirror has whole; an archive in the midst of an update
# may have one that can't be read.
download_from() { # FOLDER SUITES DPKG-ARCHITECTURE PACKAGES
	keyring=$(host_keyring)
	rm -rf "$1"
	mkdir -p "$1"
	for suite in $2; do
		for site in $(host_sites); do
			rm -rf "$apt"
			write_config "$3"
			echo "deb [signed-by=$keyring] $site $suite main" >"$apt/sources.list"
			step "downloading packages of $suite ($3)"
			# shellcheck disable=SC2086
			! update || ! (cd "$1" && private apt-get -q download $4) >>"$log" 2>&1 </dev/null ||
				return 0
		done
	done
	tail -n 5 "$log" >&2
	die "these packages can't be had from ${2}: $4" \
		"see ${log}; TEEMARK_DEBIAN_MIRROR=ADDRESS names another mirror"
}
