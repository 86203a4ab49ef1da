# The Debian packages that the bridge and the tests need, found by a file or command of each.
#
#   needs.sh              installs the packages for `make test`, or lists them
#   needs.sh --full       the same for `make full`; for tests of pages it installs a browser too, if it can
#   needs.sh --list KIND  lists the missing packages of a kind: bridge, sanitize, test or full
#   . needs.sh            defines need_packages for build.sh
#
# As root on Debian it installs the packages; otherwise it lists them and fails. A script that
# sources it must define $out, the folder of the log, and die.

runtime=libclang_rt.asan-$(uname -m).so

# packages bridge|sanitize|test|full lists missing packages. The race detector links with gcc; the
# gates run under valgrind and AddressSanitizer; lld and wabt build the WebAssembly guests again;
# other processors run the arm64 tests in qemu.
packages() {
	command -v clang-14 >/dev/null || echo clang-14
	[ -f /usr/include/stdlib.h ] || echo libc6-dev
	[ -f /usr/include/Block.h ] || echo libblocksruntime-dev
	command -v gnustep-config >/dev/null && [ -f "$(gnustep-config --variable=GNUSTEP_SYSTEM_HEADERS)/Foundation/Foundation.h" ] ||
		echo libgnustep-base-dev
	command -v gcc >/dev/null && [ -f "$(gcc -print-file-name=libobjc.so)" ] || echo gobjc
	[ "$1" != bridge ] || return 0
	command -v clang-14 >/dev/null && [ -f "$(clang-14 -print-file-name="$runtime")" ] || echo libclang-rt-14-dev
	[ "$1" != sanitize ] || return 0
	command -v gcc >/dev/null || echo gcc
	command -v valgrind >/dev/null || echo valgrind
	# For unimem/blas, and for the text of the kernels of unimem/metal.
	ls /usr/lib/*/libopenblas.so.0 >/dev/null 2>&1 || echo libopenblas0
	command -v spirv-cross >/dev/null || echo spirv-cross
	command -v wasm-ld-14 >/dev/null || echo lld-14
	command -v wat2wasm >/dev/null || echo wabt
	gpu_packages
	[ "$1" != test ] || return 0
	case $(uname -m) in
	aarch64 | arm64) ;;
	*) command -v qemu-aarch64-static >/dev/null || echo qemu-user-static ;;
	esac
}

# gpu_packages lists those of package vulkan: the loader, a driver without a GPU, the layer that checks calls, and the
# compilers of kernels.
gpu_packages() {
	any /usr/lib*/libvulkan.so.1 /usr/lib/*/libvulkan.so.1 || echo libvulkan1
	any /usr/share/vulkan/icd.d/lvp_icd*.json || echo mesa-vulkan-drivers
	any /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json || echo vulkan-validationlayers
	command -v spirv-val >/dev/null || echo spirv-tools
	command -v glslangValidator >/dev/null || echo glslang-tools
}

# any reports whether one of the files is there.
any() {
	for file; do
		[ ! -e "$file" ] || return 0
	done
	return 1
}

# install_packages retries while another process holds apt's locks.
install_packages() {
	export DEBIAN_FRONTEND=noninteractive LC_ALL=C # the log is read below
	for try in 1 2 3 4 5 6; do
		missing=$(packages "$1" | tr '\n' ' ')
		[ -n "$missing" ] || return 0
		echo "installing $missing"
		# shellcheck disable=SC2086
		{ apt-get update -qq && apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing; } \
			>"$out/apt.log" 2>&1 && return 0
		[ "$try" != 6 ] && grep -Eqi '(get|acquire) .*lock|unable to lock' "$out/apt.log" || break
		sleep 10
	done
	cat "$out/apt.log" >&2
	return 1
}

# Browsers that the tests of pages know.
browsers="chromium-headless-shell chromium chromium-browser google-chrome"

# want_browser installs a headless browser, with the fonts that plots are measured with. Without one, for instance where
# the system has no such package, the tests of pages are skipped.
want_browser() {
	for name in $browsers; do
		command -v "$name" >/dev/null && return 0
	done
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		for name in chromium-headless-shell chromium; do
			echo "installing $name"
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
				--no-install-recommends "$name" fonts-liberation; } >"$out/apt.log" 2>&1 && return 0
		done
	fi
	echo "no browser ($browsers): the tests of pages are skipped"
}

# need_packages bridge|sanitize|test|full installs missing packages or fails.
need_packages() {
	missing=$(packages "$1" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		install_packages "$1" || die "cannot install $missing"
		missing=$(packages "$1" | tr '\n' ' ')
		[ -z "$missing" ] || die "installed, but still not found: $missing"
	else
		die "missing packages: ${missing}(install them: sudo apt-get install -y --no-install-recommends $missing)"
	fi
}

case $0 in
*needs.sh)
	set -eu
	die() { echo "needs.sh: $*" >&2; exit 1; }
	case $* in
	"" | --full) [ "$(uname -s)" != Linux ] || {
		out=$(mktemp -d)
		trap 'rm -rf "$out"' EXIT
		if [ "$*" = --full ]; then
			need_packages full
			want_browser
		else
			need_packages test
		fi
	} ;;
	"--list bridge" | "--list sanitize" | "--list test" | "--list full") packages "$2" ;;
	*) die "usage: needs.sh [--full], or needs.sh --list bridge|sanitize|test|full" ;;
	esac
	;;
esac
