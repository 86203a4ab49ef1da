package objcbridge

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/host"
)

// ErrBridgeUnavailable means that this build cannot use a bridge library on this machine.
// Errors that match it have the paths searched and the fix.
var ErrBridgeUnavailable = errors.New("no Objective-C bridge")

// unavailable is ErrBridgeUnavailable with the reason and the fix.
type unavailable struct {
	why, fix string
	cause    error // the error of the search or of the loader; nil for none
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
