#!/bin/sh
# Builds the Objective-C bridge for this machine, and off macOS the stand-ins too.
#
#   build.sh OUTDIR [--sanitize]
#   build.sh --tools
#
# macOS: OUTDIR/libanebridge.dylib, with Apple's Command Line Tools. --tools builds nothing:
# it fails on a Mac without them and prints how to install them and how to do without.
# Linux: OUTDIR/libstandinsurface.so, libAppleNeuralEngine.so and libanebridge.so, with
# clang-14 and GNUstep. As root on Debian it installs missing packages (log in
# OUTDIR/apt.log), otherwise it lists them and fails. --sanitize adds AddressSanitizer; a
# program that loads such a library must preload libclang_rt.asan.
#
# Each library appears complete or not at all, so several builds may run at once.
set -eu

die() { echo "build.sh: $*" >&2; exit 1; }

usage="usage: build.sh OUTDIR [--sanitize], or build.sh --tools"
out="" sanitize="" kind=bridge tools=""
for argument in "$@"; do
	case $argument in
	--sanitize) sanitize="-fsanitize=address -fno-omit-frame-pointer" kind=sanitize ;;
	--tools) tools=only ;;
	-*) die "unknown option $argument; $usage" ;;
	*) [ -z "$out" ] || die "one OUTDIR only; $usage"; out=$argument ;;
	esac
done

# need_tools checks that clang is not only a stub: /usr/bin/cc and /usr/bin/clang exist
# without the tools too. Without tools xcrun opens a dialog, so xcode-select runs first.
need_tools() {
	why=$(xcode-select -p 2>&1) && why=$(xcrun --find clang 2>&1) && return 0
	die "no clang: Apple's Command Line Tools are missing or cannot be used
  the system reports: $why
  to install them: xcode-select --install
  to do without:   set CGO_ENABLED=0, and copy libanebridge.dylib from another Mac, where \`make bridge\`
                   builds it into build/bridge; set ANEKIT_BRIDGE_DIR to its folder, or put it beside the
                   executable or into the folder bridge there; if it came by a browser, mail or AirDrop:
                   xattr -d com.apple.quarantine libanebridge.dylib"
}

if [ -n "$tools" ]; then
	[ -z "$out$sanitize" ] || die "--tools takes no other argument; $usage"
	[ "$(uname -s)" != Darwin ] || need_tools
	exit 0
fi
[ -n "$out" ] || die "$usage"
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
mkdir -p -- "$out"
out=$(CDPATH= cd -- "$out" && pwd)
. "$here/needs.sh"
find "$out" -maxdepth 1 -name '.build.*' -mmin +60 -exec rm -rf {} + # left by killed builds
work=$(mktemp -d "$out/.build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

warnings="-Wall -Wextra -Werror"

# sources DIR SUFFIX lists the sources. It fails if there are none, so that none is omitted silently.
sources() {
	for file in "$here/$1"/*."$2"; do
		[ -f "$file" ] || die "no *.$2 in $here/$1"
		echo "$file"
	done
}

publish() { mv -f "$work/$1" "$out/$1" && echo "$out/$1"; }

build_darwin() {
	need_tools
	objc=$(sources src m)
	IFS='
'
	set -f
	# shellcheck disable=SC2086
	set -- $objc
	unset IFS
	set +f
	xcrun clang -dynamiclib -fblocks -fno-objc-arc -fobjc-exceptions -std=gnu11 -mmacosx-version-min=13.0 -O2 -g \
		$warnings $sanitize -fvisibility=hidden -install_name @rpath/libanebridge.dylib \
		-framework Foundation -framework CoreFoundation -framework IOSurface "$@" -o "$work/libanebridge.dylib"
	publish libanebridge.dylib
}

# library NAME SUFFIX DIR FLAGS...: compiles DIR/*.SUFFIX into NAME.
library() {
	name=$1 files=$(sources "$3" "$2")
	shift 3
	IFS='
'
	set -f
	# shellcheck disable=SC2086
	set -- "$@" -- $files
	unset IFS
	set +f
	flags="" # the arguments before -- follow the sources, for the linker
	while [ "$1" != -- ]; do flags="$flags $1" && shift; done
	shift
	# shellcheck disable=SC2086
	clang-14 $common "$@" -o "$name" $flags
}

build_linux() {
	need_packages "$kind"
	cd "$work" # keeps names with spaces out of the flags
	cp "$here/standin/libsystem.map" .
	# gcc's Objective-C headers without its other headers, and a file that one of them includes.
	mkdir -p include/objc
	cp "$(gcc -print-file-name=include)"/objc/*.h include/objc/
	echo '#include <Block.h>' >include/objc/blocks_runtime.h
	# Debian 12's valgrind cannot read clang's newer debug information.
	common="-std=gnu11 -O2 -gdwarf-4 -fPIC -shared -pthread $warnings $sanitize -Wl,-z,defs -Wl,-Bsymbolic -Wl,-rpath,\$ORIGIN"
	[ -z "$sanitize" ] || common="$common -shared-libasan -Wl,-rpath,$(dirname "$(clang-14 -print-file-name="$runtime")")"
	library libstandinsurface.so c standin -Wl,--version-script=libsystem.map

	# -MMD would write files beside the output.
	objc=$(gnustep-config --objc-flags | sed 's/-MMD//; s/-MP//; s/ -g / /')
	common="$objc $common -fobjc-runtime=gcc -fblocks -Iinclude"
	base="-lBlocksRuntime $(gnustep-config --base-libs) -L$(dirname "$(gcc -print-file-name=libobjc.so)") -L. -lstandinsurface -ldl"
	# shellcheck disable=SC2086
	library libAppleNeuralEngine.so m standin $base
	# shellcheck disable=SC2086
	library libanebridge.so m src -fvisibility=hidden $base
	for name in libstandinsurface.so libAppleNeuralEngine.so libanebridge.so; do publish $name; done
}

case $(uname -s) in
Darwin) build_darwin ;;
Linux) build_linux ;;
*) die "the bridge is built on macOS, or on Linux with GNUstep; this is $(uname -s)" ;;
esac
