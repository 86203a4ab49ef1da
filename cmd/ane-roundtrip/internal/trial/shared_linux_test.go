//go:build !macrules

package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
)

// What a process of the tests is, and what it is told.
const (
	partEnv   = "ANEKIT_TRIAL_TEST_PART"
	socketEnv = "ANEKIT_TRIAL_TEST_SOCKET"
	faultEnv  = "ANEKIT_TRIAL_TEST_FAULT" // of the broker's engine, or of the client's
)

func TestMain(m *testing.M) {
	part := map[string]func(context.Context) error{"broker": serve, "client": check}[os.Getenv(partEnv)]
	if part == nil {
		leaktest.Main(m)
		return
	}
	if err := part(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// wrap breaks an engine as the environment says.
func wrap(e ane.Engine) ane.Engine {
	if f, ok := faulty.ByName(os.Getenv(faultEnv)); ok {
		return faulty.Wrap(e, f)
	}
	return e
}

// serve is a shared broker until its input ends.
func serve(ctx context.Context) error {
	l, err := shared.Listen(os.Getenv(socketEnv))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return server.Serve(ctx, l, server.Config{Stay: true, Engine: func() ane.Engine { return wrap(soft.New()) }})
}

// check prints the evidence about memory on a shared broker.
func check(ctx context.Context) (err error) {
	e, err := broker.Open(ctx, broker.Options{Path: os.Getenv(socketEnv)})
	if err != nil {
		return err
	}
	d, err := ane.Open(wrap(e), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	checks, err := Make(ctx, Evidence(d, true, OwnMemory), func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return n == "memory/growth" || n == "sharing/mapping" })
	}, nil)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(checks)
}

// plain is this test's binary as a process of a plain user.
func plain(part, socket, fault string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), partEnv+"="+part, socketEnv+"="+socket, faultEnv+"="+fault)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// TestSharedBroker: a plain user's checks of growth and of memory in place work on a shared broker, and notice
// copies that the broker's engine makes, and those that the client makes.
func TestSharedBroker(t *testing.T) {
	leaktest.SkipEmulated(t)
	const growth, toEngine, toCPU = "memory/growth", "sharing/cpu-to-engine", "sharing/engine-to-cpu"
	for name, c := range map[string]struct {
		broker, client string
		want           map[string]string
	}{
		"honest":            {want: map[string]string{growth: Pass, toEngine: Pass, toCPU: Pass}},
		"the broker copies": {broker: "hidden-copy", want: map[string]string{growth: Fail, toEngine: Pass}},
		"the client copies": {client: "hidden-copy", want: map[string]string{growth: Fail, toEngine: Fail,
			toCPU: Fail}},
		"the client copies back": {client: "copies-outputs", want: map[string]string{growth: Pass, toEngine: Pass,
			toCPU: Fail}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "honest" {
				effort.NeedsFull(t, "seconds and hundreds of megabytes")
			}
			dir, err := os.MkdirTemp("/tmp", "trial") // $TMPDIR is closed to the plain user
			require.NoError(t, err)
			defer func() { require.NoError(t, os.RemoveAll(dir)) }()
			if os.Geteuid() == 0 {
				require.NoError(t, os.Chown(dir, 65534, 65534))
			}
			socket := filepath.Join(dir, "b", "s")
			served := plain("broker", socket, c.broker)
			in, err := served.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, served.Start())
			defer func() { _ = served.Process.Kill() }() // it has ended unless the test fails
			await.Until(t, "the broker listens", func() bool {
				c, err := net.Dial("unixpacket", socket) // the file is there before the broker listens
				return err == nil && c.Close() == nil
			})
			text, err := plain("client", socket, c.client).Output()
			require.NoError(t, err)
			var checks []struct{ Name, Status, Detail string }
			require.NoError(t, json.Unmarshal(text, &checks), "%s", text)
			found := map[string]string{}
			for _, one := range checks {
				found[one.Name] = one.Status
			}
			for name, status := range c.want {
				require.Equal(t, status, found[name], "%s: %s", name, text)
			}
			require.NoError(t, in.Close())
			require.NoError(t, served.Wait())
		})
	}
}
