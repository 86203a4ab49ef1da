package broker

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// brokerOptions are the flags of broker.
type brokerOptions struct {
	socket, cache, policy string
	stay                  bool
	linger, drain         time.Duration
	given                 bool // --socket
}

// Command returns the command broker.
func Command(a *cli.App) *cobra.Command {
	var o brokerOptions
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "Serve the software engine to several processes over a socket",
		Long: `broker serves the software engine to every process of this user that connects
to the socket, as a daemon of macOS serves the Neural Engine: the broker keeps
the programs, and each client keeps its tensors in its own pages. Clients name
the socket with --broker or in ` + broker.Environment + `.

broker ends when it has had no client for the time of --linger. With --stay it
ends only by a signal. SIGTERM and SIGINT end it: it takes no new connection,
refuses new calls, and waits for those in flight until the time of --drain is
over or a second signal comes; then it cuts them. On SIGHUP it reads the file of
--policy again, which then holds for connected clients too; a file that cannot
be read changes nothing.

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
	f.StringVar(&o.socket, "socket", brokerSocket(), "`PATH` of the socket, in a folder that only this user may use")
	f.StringVar(&o.cache, "cache", "", "`FOLDER` for compiled programs (default: none, they are not kept)")
	f.StringVar(&o.policy, "policy", "", "JSON `FILE` with the entitlements of clients")
	f.BoolVar(&o.stay, "stay", false, "keep running without clients")
	f.DurationVar(&o.linger, "linger", server.DefaultLinger, "`TIME` to wait for the next client")
	f.DurationVar(&o.drain, "drain", drainTime, "`TIME` for calls in flight when it ends; 0s cuts them at once")
	cmd.AddCommand(brokerStatsCommand(a))
	return cmd
}

// brokerSocket is where a shared broker listens unless --socket is given.
func brokerSocket() string { return cmp.Or(os.Getenv(broker.Environment), broker.DefaultPath()) }

// drainTime is how long calls in flight have unless --drain is given: most take milliseconds.
const drainTime = 10 * time.Second

// serve serves until it has had no client for o.linger, or until ctx ends.
func serve(a *cli.App, ctx context.Context, o brokerOptions) error {
	if o.linger <= 0 {
		return cli.Badf("--linger %v; give a time above 0", o.linger)
	}
	if o.drain < 0 {
		return cli.Badf("--drain %v; give 0s or a longer time", o.drain)
	}
	if info, err := os.Stat(o.cache); err == nil && !info.IsDir() {
		return cli.Badf("--cache %s: not a folder; name a folder, or a path for a new one", o.cache)
	}
	log := server.NewLogWriter(a.Err)
	if a.Err == io.Writer(os.Stderr) {
		log = server.NewLogWriter(server.Stderr())
	}
	a.Err = log // a reader of standard error that does not read holds up nothing
	hurry, stop := watchSignals(a, ctx, o.drain)
	defer stop()
	c := server.Config{Workers: server.Processors(), CacheDir: o.cache, Linger: o.linger, Stay: o.stay,
		Hurry:  hurry,
		Drain:  max(o.drain, time.Microsecond), // with 0s the exit status tells of cut calls, too
		Reload: a.Hangups,
		Log:    slog.New(slog.NewTextHandler(log, nil)), LogDropped: log.Dropped}
	if o.policy != "" {
		c.ReadPolicy = func() (*server.Policy, error) { return server.ReadPolicy(o.policy) }
		p, err := c.ReadPolicy()
		if err != nil {
			return cli.Bad(err)
		}
		c.Policy = p
	}
	if err := server.Hide(); err != nil {
		return err
	}
	l, err := server.Inherit()
	if err == nil && l != nil && o.given {
		return errors.Join(cli.Badf("--socket has no effect, the service manager passed %s; leave it out", l.Path()),
			l.Close())
	}
	if err == nil && l == nil {
		l, err = server.Listen(o.socket)
	}
	if err != nil {
		return cli.Bad(err)
	}
	a.Logf("serving on %s", l.Path())
	if err := server.Serve(ctx, l, c); err != nil {
		return cli.OwnEnd{Cause: err}
	}
	return nil
}
