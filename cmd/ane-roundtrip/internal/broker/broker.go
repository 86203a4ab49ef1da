package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
)

// options are the flags of broker.
type options struct {
	server.Config
	socket, policy string
	given          bool // --socket
}

// Command returns the command broker.
func Command(a *cli.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "Serve the software engine to several processes over a socket",
		Long: `broker serves the software engine to every process of this user that connects
to the socket, as a daemon of macOS serves the Neural Engine: the broker keeps
the programs, and each client keeps its tensors in its own pages. Clients name
the socket with --broker or in ` + broker.Environment + `.

broker ends when it has had no client for the time of --linger. With --stay it
ends only by a signal. SIGTERM, SIGINT and SIGHUP end it: it takes no new
connection, refuses new calls, and waits for those in flight until the time of
--drain is over or a second signal comes; then it cuts them. The file of
--policy is read once, at the start.

A service manager may pass the socket, as sd_listen_fds(3) describes; the folder
contrib/systemd of anekit has units.

Exit status: 0 no call was cut, 1 broker did not serve or could not give
everything back, 2 wrong usage or bad input, 4 calls were cut.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.Conflict(cmd, "linger", "stay", "which never ends by itself"); err != nil {
				return err
			}
			for _, named := range [][2]string{{"policy", "file"}, {"cache", "folder"}} {
				if f := cmd.Flags().Lookup(named[0]); f.Changed && f.Value.String() == "" {
					return cli.Badf("--%s names no %s; name one, or leave it out", named[0], named[1])
				}
			}
			o.given = cmd.Flags().Changed("socket")
			return serve(a, cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.socket, "socket", socketPath(), "`PATH` of the socket, in a folder that only this user may use")
	f.StringVar(&o.CacheDir, "cache", "", "`FOLDER` for compiled programs (default: none, they are not kept)")
	f.StringVar(&o.policy, "policy", "", "JSON `FILE` with the entitlements of clients")
	f.BoolVar(&o.Stay, "stay", false, "keep running without clients")
	f.DurationVar(&o.Linger, "linger", server.DefaultLinger, "`TIME` to wait for the next client")
	f.DurationVar(&o.Drain, "drain", drainTime, "`TIME` for calls in flight when it ends; 0s cuts them at once")
	cmd.AddCommand(statsCommand(a))
	return cmd
}

// socketPath is where a shared broker listens unless --socket is given.
func socketPath() string { return cmp.Or(os.Getenv(broker.Environment), broker.DefaultPath()) }

// drainTime is how long calls in flight have unless --drain is given: most take milliseconds.
const drainTime = 10 * time.Second

// serve serves until it has had no client for o.Linger, or until ctx ends.
func serve(a *cli.App, ctx context.Context, o options) error {
	if o.Linger <= 0 {
		return cli.Badf("--linger %v; give a time above 0", o.Linger)
	}
	if o.Drain < 0 {
		return cli.Badf("--drain %v; give 0s or a longer time", o.Drain)
	}
	if info, err := os.Stat(o.CacheDir); err == nil && !info.IsDir() {
		return cli.Badf("--cache %s: not a folder; name a folder, or a path for a new one", o.CacheDir)
	}
	signal.Ignore(syscall.SIGPIPE) // a reader of standard error that has gone ends nothing
	log := server.NewLogWriter(a.Err)
	a.Err = log // and one that does not read holds up nothing
	o.Workers = server.Processors()
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	hurry, stop := watchSignals(a, ctx, o.Drain)
	defer stop()
	o.Hurry, o.Drain = hurry, max(o.Drain, time.Microsecond) // with 0s the exit status tells of cut calls, too
	if o.policy != "" {
		var err error
		if o.Policy, err = shared.ReadPolicy(o.policy); err != nil {
			return cli.Bad(err)
		}
	}
	l, err := shared.Inherit(shared.Passed())
	if err == nil && l != nil && o.given {
		return errors.Join(cli.Badf("--socket has no effect, the service manager passed %s; leave it out", l.Path()),
			l.Close())
	}
	if err == nil && l == nil {
		l, err = shared.Listen(o.socket)
	}
	if err != nil {
		return cli.Bad(err)
	}
	a.Logf("serving on %s", l.Path())
	if err := server.Serve(ctx, l, o.Config); err != nil {
		return cli.OwnEnd{Cause: err}
	}
	return nil
}

// cutTime is how long a broker may take to end after its calls were cut. A text that is being read has no steps to
// stop between, and a run that does not come back is stuck.
const cutTime = 15 * time.Second

// watchSignals returns a channel that the second signal to end closes; the first ends ctx. From now on the process ends
// when drain and cutTime have passed since, unless stop was called.
func watchSignals(a *cli.App, ctx context.Context, drain time.Duration) (hurry chan struct{}, stop func()) {
	a.Drains.Store(true)
	hurry = make(chan struct{})
	ends, over := make(chan os.Signal, 2), make(chan struct{})
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as by nohup
		all = append(all, syscall.SIGHUP)
	}
	signal.Notify(ends, all...)
	go func() {
		defer signal.Stop(ends)
		ended, late := ctx.Done(), (<-chan time.Time)(nil)
		for signals := 0; ; {
			select {
			case <-over:
				return
			case <-ended:
				ended, late = nil, time.After(drain+cutTime)
			case <-ends:
				if signals++; signals == 2 {
					close(hurry)
					ended, late = nil, time.After(cutTime)
				}
			case <-late:
				err := fmt.Errorf("the broker does not end %v after its calls were cut: %w", cutTime, server.ErrCut)
				os.Exit(a.End(ctx, err))
			}
		}
	}()
	return hurry, func() { close(over) }
}
