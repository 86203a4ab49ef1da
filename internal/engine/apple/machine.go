package apple

import (
	"errors"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/libsystem"
)

// Machine returns nil on macOS on Apple silicon, or why Apple's engine cannot be here.
func Machine() error {
	if host.Apple {
		return nil
	}
	n, err := libsystem.SysctlUint64("sysctl.proc_translated") // only a Mac that can translate has it
	return otherMachine(host.Platform, err == nil && n == 1)
}

// otherMachine names the system, and Rosetta if it runs this process.
func otherMachine(platform string, translated bool) error {
	text := "needs macOS on Apple silicon, this is " + platform
	if translated {
		text += " under Rosetta; build the program with GOARCH=arm64"
	}
	return errors.New(text)
}
