package uring

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/sysfilter"
)

// denyEnv is a system call and the error number that it returns in a child process.
const denyEnv = "URING_TEST_DENY"

func TestMain(m *testing.M) {
	if text := os.Getenv(denyEnv); text != "" {
		var call, errno uint32
		if _, err := fmt.Sscan(text, &call, &errno); err == nil {
			err = sysfilter.Deny(map[uint32]unix.Errno{call: unix.Errno(errno)})
			if err != nil {
				fmt.Println("cannot filter calls:", err)
				os.Exit(1)
			}
		}
	}
	leaktest.Main(m, descriptors())
}

// descriptors lists files that the tests have left open.
func descriptors() func() []string {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0
		}
		return len(list)
	}
	before := count()
	return func() []string {
		if after := count(); after > before+2 { // the runtime's own, which it opens at its first need
			return []string{strconv.Itoa(after-before) + " descriptors"}
		}
		return nil
	}
}
