package objcbridge

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFunctionsOfHeader: the package looks up every function of the header and
// no other.
func TestFunctionsOfHeader(t *testing.T) {
	header, err := os.ReadFile("src/bridge.h")
	require.NoError(t, err)
	prototype := regexp.MustCompile(`(?m)^(?:int32_t|uint32_t|void) (aneb_\w+)\(`)
	var declared []string
	for _, m := range prototype.FindAllSubmatch(header, -1) {
		declared = append(declared, string(m[1]))
	}
	require.NotEmpty(t, declared)
	var used []string
	for symbol := range new(library).functions() {
		used = append(used, symbol)
	}
	require.ElementsMatch(t, declared, used)
}

// TestFunctionsOfBuiltin: the bridge in darwin binaries has the same functions.
func TestFunctionsOfBuiltin(t *testing.T) {
	file, err := os.ReadFile("src/cgo_darwin_unsafe.go")
	require.NoError(t, err)
	var offered []string
	for _, m := range regexp.MustCompile(`"(aneb_\w+)":\s+uintptr\(C\.(aneb_\w+)\)`).FindAllSubmatch(file, -1) {
		require.Equal(t, string(m[1]), string(m[2]))
		offered = append(offered, string(m[1]))
	}
	var used []string
	for symbol := range new(library).functions() {
		used = append(used, symbol)
	}
	require.ElementsMatch(t, used, offered)
}

// TestLinkHasNoVersionOfItsOwn: the C files of Go's own packages are compiled for the system of the SDK, so the linker
// would warn of each one that is newer than a version named here. Compiling for an older system warns of nothing.
func TestLinkHasNoVersionOfItsOwn(t *testing.T) {
	file, err := os.ReadFile("src/cgo_darwin_unsafe.go")
	require.NoError(t, err)
	flags := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#cgo (\w+): (.*)$`).FindAllSubmatch(file, -1) {
		flags[string(m[1])] += string(m[2])
	}
	require.Contains(t, flags["CFLAGS"], "-mmacosx-version-min=13.0")
	require.NotEmpty(t, flags["LDFLAGS"])
	require.NotContains(t, flags["LDFLAGS"], "version-min")
}

// TestFunctionsAreApart: each function has its own field.
func TestFunctionsAreApart(t *testing.T) {
	l := new(library)
	seen := map[*uintptr]string{}
	for symbol, place := range l.functions() {
		require.Empty(t, seen[place], "%s shares its place", symbol)
		seen[place] = symbol
	}
}

// TestConstantsOfHeader compares the constants of the header with those of this
// package.
func TestConstantsOfHeader(t *testing.T) {
	header, err := os.ReadFile("src/bridge.h")
	require.NoError(t, err)
	require.Regexp(t, `#define ANEB_VERSION 6\b`, string(header))
	require.EqualValues(t, 6, abiVersion)
	for name, want := range map[string]int32{
		"ANEB_NSERROR": int32(KindNSError), "ANEB_NO": int32(KindNo), "ANEB_EXCEPTION": int32(kindException),
		"ANEB_CONTRADICTION": int32(kindContradiction), "ANEB_NIL": int32(kindNil), "ANEB_MISSING": int32(KindMissing),
		"ANEB_REFUSED": int32(KindRefused), "ANEB_ARGUMENT": int32(ReasonArgument), "ANEB_SHORT": int32(ReasonShort),
		"ANEB_OFFSET": int32(ReasonOffset), "ANEB_INDEX": int32(ReasonIndex),
		"ANEB_CROWDED": int32(ReasonCrowded), "ANEB_STATE": int32(ReasonState), "ANEB_FILE": int32(ReasonFile),
		"ANEB_RELOAD": int32(ReasonReload), "ANEB_HELD": int32(ReasonHeld), "ANEB_DEFAULT": int32(ResidencyDefault),
		"ANEB_WIRED": int32(ResidencyWired), "ANEB_PAGEABLE": int32(ResidencyPageable), "ANEB_FOUND": int32(checkOK),
		"ANEB_NO_CLASS":    int32(checkNoClass),
		"ANEB_NO_SELECTOR": int32(checkNoSelector), "ANEB_OTHER_ENCODING": int32(checkOtherEncoding),
	} {
		m := regexp.MustCompile(`\b` + name + ` = (\d+)`).FindSubmatch(header)
		require.NotNil(t, m, name)
		require.Equal(t, string(m[1]), strconv.Itoa(int(want)), name)
	}
	stages := `ANEB_OPEN = 1, ANEB_CHECK, ANEB_DEVICE, ANEB_SURFACE, ANEB_CREATE, ANEB_COMPILE, ANEB_LOAD,\s+` +
		`ANEB_DESCRIBE, ANEB_REQUEST, ANEB_EVALUATE, ANEB_UNLOAD, ANEB_PURGE, ANEB_CLOSE,`
	require.Regexp(t, stages, string(header))
	require.EqualValues(t, 13, stageClose)
}
