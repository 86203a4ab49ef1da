//go:build !macrules

package unimem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memlockEnv sets the locked-memory limit of a child process, in bytes.
const memlockEnv = "UNIMEM_TEST_MEMLOCK"

// lowerLimits applies memlockEnv and denyEnv.
func lowerLimits() error {
	if err := denyCalls(); err != nil {
		return err
	}
	text := os.Getenv(memlockEnv)
	if text == "" {
		return nil
	}
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit})
}

// systemLeaks lists the open descriptors and mappings of memfds.
func systemLeaks() []string {
	return append(openDescriptors(), openMappings()...)
}

// isBlock reports whether text names the file of a Block.
func isBlock(text string) bool {
	return strings.Contains(text, "memfd:unimem") || strings.Contains(text, "/dev/shm/")
}

func openDescriptors() []string {
	var found []string
	names, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if target, err := os.Readlink(name); err == nil && isBlock(target) {
			found = append(found, fmt.Sprintf("descriptor %s of %s", filepath.Base(name), target))
		}
	}
	return found
}

func openMappings() []string {
	var found []string
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if isBlock(line) {
			found = append(found, "mapping "+strings.TrimSpace(line))
		}
	}
	return found
}
