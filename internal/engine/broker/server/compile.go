package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

const (
	// MaxCompiles is how many compiles of one client may be unanswered, instances among
	// them.
	MaxCompiles = 256
	// maxCompiling is how many of them are done at a time; the others wait.
	maxCompiling = 8
	// compileTime bounds a compile; longCompileTime one of a client with the
	// entitlement of the compiler service for large models.
	compileTime     = 60 * time.Second
	longCompileTime = 15 * time.Minute
)

// compiles are the compiles in progress of one client's programs and instances. Each has its own goroutine, since it
// may last long and the client has other work.
type compiles struct {
	work  sync.WaitGroup
	asked chan struct{} // a token for each that was not answered
	doing chan struct{} // a token for each that is being done
}

// compile compiles a program.
func (c *session) compile(f *wire.Frame, fds wire.Descriptors) error {
	var q wire.Compile
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	if err := c.grant.AllowBaseline("compile"); err != nil { // make asks for more
		return err
	}
	if q.Key != "" && (len(fds) > 0 || q.TextSize > 0 || len(q.Weights) > 0) {
		return &ane.Error{Op: "compile", Engine: Name, Name: q.Key, Err: ane.ErrMismatch,
			Detail: "a key, and a program too", Hint: "send one of them"}
	}
	up, err := resources.Receive(c.has.Owes, "compile", q.File, len(f.Payload), fds, &q)
	if err != nil {
		return err
	}
	return c.later(f, up, func() (*wire.Compiled, error) { return c.build(&q, up) })
}

// instance makes an instance of a loaded program.
func (c *session) instance(f *wire.Frame, fds wire.Descriptors) error {
	var q wire.Instance
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	if err := c.grant.AllowRestricted("instance", driverabi.EntitlementAdapterWeight); err != nil {
		return err
	}
	if err := c.grant.allowArguments("instance", q.Args); err != nil {
		return err
	}
	up, err := c.has.Programs.ReceiveInstance(&q, len(f.Payload), fds)
	if err != nil {
		return err
	}
	return c.later(f, up, func() (r *wire.Compiled, err error) {
		err = c.inTurn("instance", func(ctx context.Context) error {
			r, err = c.has.Programs.Instance(ctx, up)
			return err
		})
		if err == nil {
			c.counts.instances.Add(1)
		}
		return r, err
	})
}

// later does the work of a compile when few enough others are done for this client, answers, and frees what was sent
// with it. When it returns an error the work is not done.
func (c *session) later(f *wire.Frame, up *resources.Upload, work func() (*wire.Compiled, error)) error {
	select {
	case c.compiles.asked <- struct{}{}:
	default:
		return errors.Join(resources.Exhausted("compile", "", "compiles that were not answered", MaxCompiles,
			"wait for one of them"), up.Close())
	}
	c.compiles.work.Go(func() {
		defer func() { <-c.compiles.asked }()
		var reply *wire.Compiled
		var err error
		select {
		case c.compiles.doing <- struct{}{}:
			reply, err = work()
			<-c.compiles.doing
		case <-c.ctx.Done():
			err = ane.Deadline("compile", Name, c.ctx.Err())
		}
		if shut := up.Close(); shut != nil {
			c.log.Error("upload not unmapped", "error", shut)
		}
		if err == nil {
			err = c.Reply(f, reply)
		}
		if err != nil {
			c.Fault(f.ID, err)
		}
	})
	return nil
}

// compileTime is how long a compile may run. What it waits does not count.
func (g *grant) compileTime() time.Duration {
	if g.Has(driverabi.EntitlementSecondaryCompiler) {
		return longCompileTime
	}
	return compileTime
}

// inTurn does what takes long when it is the client's turn.
func (c *session) inTurn(op string, work func(context.Context) error) error {
	err := c.turns.Do(c.ctx, c.grant.compileTime(), op, work)
	if errors.Is(err, ane.ErrDeadline) && c.ctx.Err() == nil {
		return &ane.Error{Op: op, Engine: Name, Err: err, Rule: "the broker compiles for a bounded time",
			Hint: "split the program, or have the policy grant " + driverabi.EntitlementSecondaryCompiler}
	}
	return err
}

// build finds the program in memory, or compiles what came or what the cache has.
func (c *session) build(q *wire.Compile, up *resources.Upload) (*wire.Compiled, error) {
	at := resources.ResidentKey{Identity: c.grant.ID.String(), Mode: c.grant.mode}
	if c.grant.AllowRestricted("share", driverabi.EntitlementProcessModelShare) != nil {
		at.Own = c.number
	}
	var err error
	if q.Key != "" {
		at.Key, err = resources.ParseKey(q.Key)
	} else {
		err = c.inTurn("compile", func(ctx context.Context) error {
			err := up.Open()
			if err == nil {
				at.Key, err = up.Key(ctx, resources.InfoOf(c.info, at.Mode))
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	reply := &wire.Compiled{}
	r, shared, err := c.live.Acquire(c.ctx, at, func(r *resources.Resident) error { return c.make(r, q, up, reply) })
	if err != nil {
		return nil, err
	}
	c.counts.compiles.Add(1)
	switch {
	case shared:
		reply.Cached = true
		c.counts.shared.Add(1)
	case reply.Cached:
		c.counts.hits.Add(1)
	}
	if err := up.Close(); err != nil { // its charges go before those of the program come
		return nil, errors.Join(err, c.live.Release(r))
	}
	return reply, c.has.Programs.Add(r, "compile", q.File, reply)
}

// make has the engine compile a program, and the cache keep it.
func (c *session) make(r *resources.Resident, q *wire.Compile, up *resources.Upload, reply *wire.Compiled) error {
	src, weights, id := &up.Source, up.Weights(), r.At.Identity
	if q.Key != "" {
		var err error
		if src, err = c.fromCache(r.At, up); err != nil {
			return err
		}
		weights = src
	}
	if reply.Cached = q.Key != "" || c.cache.Has(id, r.At.Key); !reply.Cached {
		if err := c.grant.Allow("compile", driverabi.EntitlementBaseline); err != nil {
			return err
		}
	}
	if err := up.Owe(src.Tree()); err != nil {
		return err
	}
	if err := c.inTurn("compile", func(ctx context.Context) error {
		room := c.has.Owes.Room()
		defer c.has.Owes.Give(room)
		exec, err := c.engine.compile(ctx, src.Compile(q.File, weights), room[resources.Memory], r.At.Mode)
		if err == nil {
			r.Made(exec, src, up)
		}
		return err
	}); err != nil {
		return err
	}
	if reply.Cached {
		return nil
	}
	if err := c.cache.Store(id, r.At.Key, src); err != nil {
		c.counts.uncached.Add(1)
		reply.Notes = append(reply.Notes, "not kept in the cache: "+err.Error())
	}
	return nil
}

// fromCache reads the entry of a key in the cache.
func (c *session) fromCache(at resources.ResidentKey, up *resources.Upload) (src *resources.Source, err error) {
	why := "the cache has no such program"
	if err := up.Owe(resources.Needs{resources.Memory: c.cache.Size(at.Identity, at.Key)}); err != nil {
		return nil, err
	}
	err = c.inTurn("compile", func(ctx context.Context) error {
		damaged := false
		if src, damaged = c.cache.Load(ctx, at.Identity, at.Key, at.Mode); damaged {
			c.counts.damaged.Add(1)
			why = "the entry in the cache was damaged"
		}
		if ctx.Err() != nil {
			return ane.Deadline("compile", Name, ctx.Err())
		}
		return nil
	})
	if err == nil && src == nil {
		err = &ane.Error{Op: "compile", Engine: Name, Name: at.Key.String(), Err: ane.ErrName, Detail: why,
			Hint: "send text and weights"}
	}
	return src, err
}
