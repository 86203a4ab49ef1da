//go:build !macrules

package ringtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/sysfilter"
)

// env is a call of the system and the error number that it returns in a child process.
const env = "ANEKIT_RINGTEST_DENY"

// Refused reports whether this process is one of Refuse.
func Refused() bool { return os.Getenv(env) != "" }

// Main has the system refuse the call, in a process of Refuse.
func Main() {
	if !Refused() {
		return
	}
	var call, errno uint32
	_, err := fmt.Sscan(os.Getenv(env), &call, &errno)
	if err == nil {
		err = sysfilter.Deny(map[uint32]unix.Errno{call: unix.Errno(errno)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot filter calls:", err)
		os.Exit(1)
	}
}

// refusals are the calls, each with the word of the reason that the test has to print.
func refusals() map[string]struct {
	call  int
	errno unix.Errno
	word  string
} {
	return map[string]struct {
		call  int
		errno unix.Errno
		word  string
	}{
		"old kernel": {unix.SYS_IO_URING_SETUP, unix.ENOSYS, "older than Linux 5.6"},
		"filter":     {unix.SYS_IO_URING_SETUP, unix.EPERM, "io_uring_disabled"},
		"memlock":    {unix.SYS_IO_URING_REGISTER, unix.ENOMEM, "ulimit -l"},
		"no entry":   {unix.SYS_IO_URING_ENTER, unix.EPERM, "io_uring_enter"},
	}
}

// Refuse runs a test of this package, by its name, in a process for each refusal. The test has to pass and to print the
// reason of the refusal, with the words in which package uring says it.
func Refuse(t *testing.T, test string) {
	leaktest.SkipEmulated(t)
	for name, c := range refusals() {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.count=1", "-test.v", "-test.run",
				"^"+test+"$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", env, c.call, int(c.errno)))
			out, err := cmd.CombinedOutput()
			for _, want := range []string{c.word, "--- PASS: " + test} {
				if err != nil || !strings.Contains(string(out), want) {
					t.Fatalf("%v, without %q:\n%s", err, want, out)
				}
			}
		})
	}
}
