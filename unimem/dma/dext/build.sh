#!/bin/sh
# Builds the driver extension and the application that installs it, on a Mac with Xcode. Never run.
#
#   build.sh [FOLDER]    into FOLDER, by default build/ beside this script
#
# SIGN is the identity of codesign ("Apple Development: Name (TEAM)"); without it nothing is signed, which is enough
# to see whether the sources compile. PROFILES is a folder with the provisioning profiles IDENTIFIER.provisionprofile.
# VERSION is the CFBundleVersion of the extension, by default the time in UTC: the system replaces an installed
# extension by one of another version only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/build}
target=arm64e-apple-driverkit22.0 # macOS 13; the kernel starts extensions of arm64e only
version=${VERSION:-$(date -u +%Y.%-m%d.%-H%M)}

die() { echo "build.sh: $*" >&2; exit 1; }
[ "$(uname -s)" = Darwin ] || die "the DriverKit SDK is part of Xcode: run this on a Mac"
sdk=$(xcrun --sdk driverkit --show-sdk-path) || die "no DriverKit SDK: install Xcode, the command line tools have none"
iig=$(xcrun --sdk driverkit --find iig)
cxx=$(xcrun --sdk driverkit --find clang++)

sign() { # sign BUNDLE ENTITLEMENTS IDENTIFIER WHERE
	[ -n "${SIGN:-}" ] || return 0
	profile=${PROFILES:-$here}/$3.provisionprofile
	[ ! -f "$profile" ] || cp "$profile" "$1/$4embedded.provisionprofile"
	codesign --force --sign "$SIGN" --options runtime --timestamp=none --entitlements "$2" "$1"
}

# dext FOLDER IDENTIFIER CLASS...
dext() {
	folder=$1 name=$2
	shift 2
	made=$out/made/$folder bundle=$out/AnekitDMA.app/Contents/Library/SystemExtensions/$name.dext
	mkdir -p "$made" "$bundle"
	headers=$sdk/System/DriverKit/System/Library/Frameworks/DriverKit.framework/Headers
	objects=
	for class in "$@"; do
		"$iig" --def "$here/$folder/$class.iig" --header "$made/$class.h" --impl "$made/$class.iig.cpp" -- \
			-x c++ -std=gnu++17 -D__IIG=1 -target "$target" -isysroot "$sdk" -I"$headers" -I"$made"
	done
	for class in "$@"; do
		for source in "$here/$folder/$class.cpp" "$made/$class.iig.cpp"; do
			object=$made/$(basename "$source" .cpp).o
			"$cxx" -c -x c++ -std=gnu++17 -target "$target" -isysroot "$sdk" -fno-exceptions -fno-rtti -fblocks \
				-Wall -Wextra -Wno-unused-parameter -I"$made" -I"$here/$folder" "$source" -o "$object"
			objects="$objects $object"
		done
	done
	# shellcheck disable=SC2086
	"$cxx" -target "$target" -isysroot "$sdk" -framework DriverKit $objects -o "$bundle/$name"
	cp "$here/$folder/Info.plist" "$bundle/Info.plist"
	plutil -replace CFBundleVersion -string "$version" "$bundle/Info.plist"
	sign "$bundle" "$here/$folder/Entitlements.plist" "$name" ""
}

rm -rf "$out/AnekitDMA.app" "$out/made"
dext dext_dma org.anekit.dma.memory AnekitDMADriver AnekitDMAClient

app=$out/AnekitDMA.app
mkdir -p "$app/Contents/MacOS"
cp "$here/host/Info.plist" "$app/Contents/Info.plist"
xcrun --sdk macosx swiftc -target arm64-apple-macos13 "$here/host/activate.swift" -o "$app/Contents/MacOS/activate"
sign "$app" "$here/host/Entitlements.plist" org.anekit.dma Contents/
echo "$app"
