//go:build linux && !cgo

package main

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/objcbridge"
)

// handedOver marks the environment of a command that has been handed over to: it
// does not do so again.
const handedOver = "ANE_ROUNDTRIP_HANDED_OVER"

// handOver replaces this process by the command that `make bridge` puts beside the
// bridge library, when the engine asked for needs that library: a static binary
// cannot load it. Where there is no such command it returns, and the engine is
// reported as not available, with the reason.
func handOver(args []string) {
	if !asksFor(args, engine.StandIn) || os.Getenv(handedOver) != "" {
		return
	}
	dirs := []string{os.Getenv(objcbridge.EnvDir)}
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(self), "bridge"))
	}
	for _, dir := range dirs {
		other, err := filepath.Abs(filepath.Join(dir, "ane-roundtrip"))
		if dir != "" && err == nil {
			// returns only when it fails; the next may work
			_ = syscall.Exec(other, args, append(os.Environ(), handedOver+"=yes"))
		}
	}
}

// asksFor reports whether the arguments choose the engine called name.
func asksFor(args []string, name string) bool {
	at := slices.Index(args, "--engine")
	return slices.Contains(args, "--engine="+name) || at >= 0 && at+1 < len(args) && args[at+1] == name
}
