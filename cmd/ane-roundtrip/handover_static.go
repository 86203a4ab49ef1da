//go:build linux && !cgo

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/objcbridge"
)

// handedOver is set in the environment of the command that handOver starts, which then does not
// start another one.
const handedOver = "ANE_ROUNDTRIP_HANDED_OVER"

// handOver replaces this process if the arguments choose an engine that needs the bridge library, which a static binary
// cannot load. It runs the command that `make bridge` puts beside that library. Without one it returns, and opening the
// engine fails with the reason.
func handOver(args []string) {
	line := strings.ReplaceAll(strings.Join(args, " "), "=", " ") + " "
	if !strings.Contains(line, " --engine "+engine.StandIn+" ") || os.Getenv(handedOver) != "" {
		return
	}
	dirs := []string{os.Getenv(objcbridge.EnvDir)}
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(self), "bridge"))
	}
	for _, dir := range dirs {
		other, err := filepath.Abs(filepath.Join(dir, "ane-roundtrip"))
		if dir != "" && err == nil {
			// Exec returns only on failure; the loop then tries the next folder.
			_ = syscall.Exec(other, args, append(os.Environ(), handedOver+"=yes"))
		}
	}
}
