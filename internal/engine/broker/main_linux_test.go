//go:build !macrules

package broker

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/tripbench"
)

// Main is what TestMain does in a process that is no private broker.
func Main(m *testing.M) {
	tripbench.ServeSignals()
	if os.Getenv(clientVariable) != "" {
		if err := patientClient(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if part := os.Getenv(crowdVariable); part != "" {
		if err := crowdPart(part, os.Getenv(crowdPath)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.NeedsProcesses()
	leaktest.Main(m, children, descriptors(open()))
}

// clientVariable has a test binary be the client of TestEndsWithClient.
const clientVariable = "ANEKIT_TEST_CLIENT"

// patientClient opens a private broker, tells its process and waits to be killed.
func patientClient() error {
	e, err := Open(context.Background(), Options{})
	if err != nil {
		return err
	}
	s, err := e.(*engine).link(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(s.child.cmd.Process.Pid)
	_, _ = io.Copy(io.Discard, os.Stdin) // the test holds the other end
	return e.Close()
}

// children lists the processes that this one started and did not reap.
func children() (left []string) {
	for _, task := range names("/proc/self/task") {
		data, err := os.ReadFile("/proc/self/task/" + task + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(data)) {
			left = append(left, "process "+pid)
		}
	}
	return left
}

func names(dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		panic(err) // no /proc: nothing of this package works
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// open lists the open descriptors that are no part of the runtime.
func open() (all []string) {
	for _, fd := range names("/proc/self/fd") {
		to, err := os.Readlink("/proc/self/fd/" + fd)
		if n, _ := strconv.Atoi(fd); err != nil || n <= 2 || strings.HasPrefix(to, "anon_inode:") ||
			strings.HasPrefix(to, "/sys/") {
			continue
		}
		all = append(all, fmt.Sprintf("descriptor %s of %s", fd, to))
	}
	return all
}

// descriptors tells which are open that were not before, once those that are being
// closed are.
func descriptors(before []string) func() []string {
	return func() []string {
		return await.Left(func() []string {
			if now := open(); len(now) > len(before) {
				return now
			}
			return nil
		})
	}
}
