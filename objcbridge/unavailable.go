package objcbridge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/host"
)

// ErrBridgeUnavailable means that this build cannot use a bridge library on this machine.
// Errors that match it have the paths searched and the fix.
var ErrBridgeUnavailable = errors.New("no Objective-C bridge")

// unavailable is ErrBridgeUnavailable with the reason and the fix.
type unavailable struct {
	why, fix string
	cause    error // *SymbolError, *VersionError or the loader's own; may be nil
}

func (e *unavailable) Error() string {
	return fmt.Sprintf("%v: %s; %s", ErrBridgeUnavailable, oneLine(e.why), e.fix)
}

// Hint returns how to get a bridge; it is part of Error too.
func (e *unavailable) Hint() string { return e.fix }

func (e *unavailable) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrBridgeUnavailable}
	}
	return []error{ErrBridgeUnavailable, e.cause}
}

// howToGet returns how this build gets a bridge library on this machine.
func howToGet() string { return howToGetOn(host.Name, builtin() != nil) }

// howToGetOn is howToGet for a system and for a binary with or without the bridge.
func howToGetOn(system string, inside bool) string {
	if system != "darwin" || inside {
		return bridgedir.Remedy
	}
	return "build with CGO_ENABLED=1, which needs Apple's Command Line Tools (xcode-select --install) and includes " +
		"the bridge in the binary; or keep CGO_ENABLED=0, copy libanebridge.dylib from a Mac that has them, where " +
		"`make bridge` builds it into build/bridge, and set " + EnvDir + " to its folder, or put it beside the " +
		"executable or into the folder bridge there; a library that came by a browser, mail or AirDrop is " +
		"quarantined: xattr -d com.apple.quarantine libanebridge.dylib"
}

// VersionError reports a library built from another version of the C interface.
type VersionError struct {
	Library     string // path; empty: part of the binary
	Found, Want uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d of the bridge's C interface, this binary needs %d", origin(e.Library),
		e.Found, e.Want)
}

// SymbolError reports a library without some functions of the bridge's C interface.
type SymbolError struct {
	Library string // path; empty: part of the binary
	Missing []string
}

func (e *SymbolError) Error() string {
	const shown = 3
	list := strings.Join(e.Missing[:min(len(e.Missing), shown)], ", ")
	if more := len(e.Missing) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s is not a bridge library: it lacks %s", origin(e.Library), list)
}

func origin(path string) string {
	if path == "" {
		return "the bridge in this binary"
	}
	return path
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
