//go:build (darwin || freebsd || linux || windows) && (amd64 || arm64)

package dlpack

import (
	"fmt"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane"
)

// entryPoints makes the C functions of the two deleters. A callback of Windows has a result.
func entryPoints() (d deleters, err error) {
	defer func() {
		if v := recover(); v != nil { // the process has as many callbacks as it can have
			err = &ane.Error{Op: "dlpack", Err: ane.ErrUnavailable, Detail: fmt.Sprint(v),
				Hint: "import or export a first tensor earlier"}
		}
	}()
	return deleters{
		versioned: purego.NewCallback(func(self uintptr) uintptr { process.end(self, versioned); return 0 }),
		legacy:    purego.NewCallback(func(self uintptr) uintptr { process.end(self, legacy); return 0 }),
	}, nil
}

// call calls a C function with one argument.
func call(function, argument uintptr) { purego.SyscallN(function, argument) }
