package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// brokerVariable is the environment variable with the socket of a shared broker.
const brokerVariable = broker.Environment

// brokerOptions are the flags of broker.
type brokerOptions struct {
	socket, cache, policy string
	stay                  bool
	linger                time.Duration
}

func (a *app) brokerCommand() *cobra.Command {
	var o brokerOptions
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "Serve the software engine to several processes over a socket",
		Long: `broker serves the software engine to every process of this user that connects
to the socket, as a daemon of macOS serves the Neural Engine: the broker keeps
the programs, and each client keeps its tensors in its own pages. Clients name
the socket with --broker or in ` + broker.Environment + `.

broker ends when it has had no client for the time of --linger. With --stay it
ends only when it is interrupted.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := conflict(cmd, "linger", "stay", "which never ends by itself"); err != nil {
				return err
			}
			return a.broker(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.socket, "socket", cmp.Or(os.Getenv(broker.Environment), broker.DefaultPath()),
		"`PATH` of the socket, in a folder that only this user may use")
	f.StringVar(&o.cache, "cache", "", "`FOLDER` for compiled programs (default: none, they are not kept)")
	f.StringVar(&o.policy, "policy", "", "JSON `FILE` with the entitlements of clients")
	f.BoolVar(&o.stay, "stay", false, "keep running without clients")
	f.DurationVar(&o.linger, "linger", server.DefaultLinger, "`TIME` to wait for the next client")
	return cmd
}

// broker serves until it has had no client for o.linger, or until ctx ends.
func (a *app) broker(ctx context.Context, o brokerOptions) error {
	if o.linger <= 0 {
		return badf("--linger %v; give a time above 0", o.linger)
	}
	if info, err := os.Stat(o.cache); err == nil && !info.IsDir() {
		return badf("--cache %s: not a folder; name a folder, or a path for a new one", o.cache)
	}
	log := server.NewLogWriter(a.err)
	if a.err == io.Writer(os.Stderr) {
		log = server.NewLogWriter(server.Stderr())
	}
	a.err = log // a reader of standard error that does not read holds up nothing
	c := server.Config{CacheDir: o.cache, Linger: o.linger, Stay: o.stay,
		Log: slog.New(slog.NewTextHandler(log, nil)), LogDropped: log.Dropped}
	if o.policy != "" {
		p, err := server.ReadPolicy(o.policy)
		if err != nil {
			return bad(err)
		}
		c.Policy = p
	}
	if err := server.Hide(); err != nil {
		return err
	}
	l, err := server.Listen(o.socket)
	if err != nil {
		return bad(err)
	}
	a.logf("serving on %s", l.Path())
	err = server.Serve(ctx, l, c)
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil // an interrupt is the normal end of a broker with --stay
	}
	return err
}
