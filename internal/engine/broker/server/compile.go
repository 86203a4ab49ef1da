package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// compiles are the programs and instances that are being made for one client, and the
// budget of them.
type compiles struct {
	*server
	*outlet
	grant    *grant
	programs *programs
	ctx      context.Context // ends with the connection
	log      *slog.Logger
	owes     *accounts
	number   uint64 // of the session

	work  sync.WaitGroup
	asked chan struct{} // a token for each compile that was not answered
	doing chan struct{} // a token for each that is being done
}

// program compiles a program, in a goroutine of its own: a compile may last long and the
// client has other work.
func (c *compiles) program(f *wire.Frame, fds wire.Descriptors) error {
	var p wire.Compile
	if err := wire.Parse(f.Payload, &p); err != nil {
		return err
	}
	if err := c.grant.Allow("compile", driverabi.EntitlementBaseline); err != nil {
		return err
	}
	up, err := receive(&p, fds, c.owes)
	if err == nil {
		err = up.wait(f, p.File)
	}
	if err != nil {
		return err
	}
	return c.later(f, up, func() error {
		return c.inTurn(func() error { return c.build(f, &p, up) })
	})
}

// later does the work of a compile, answers its fault, and frees what was sent with it. When
// it returns an error the work is not done.
func (c *compiles) later(f *wire.Frame, up *upload, work func() error) error {
	select {
	case c.asked <- struct{}{}:
	default:
		return errors.Join(exhausted("compile", "", "compiles that were not answered", MaxCompiles,
			"wait for one of them"),
			up.close())
	}
	c.work.Go(func() {
		defer func() { <-c.asked }()
		err := work()
		if shut := up.close(); shut != nil {
			c.log.Error("upload not unmapped", "error", shut)
		}
		if err != nil {
			c.fault(f.ID, err)
		}
	})
	return nil
}

// inTurn does work when few enough others are done for this client.
func (c *compiles) inTurn(work func() error) error {
	select {
	case c.doing <- struct{}{}:
		defer func() { <-c.doing }()
		return work()
	case <-c.ctx.Done():
		return ane.Deadline("compile", Name, c.ctx.Err())
	}
}

// build finds the program in memory, or compiles what came or what the cache has, and
// answers.
func (c *compiles) build(f *wire.Frame, p *wire.Compile, up *upload) error {
	r, how, err := c.find(c.ctx, p, up)
	if err != nil {
		return err
	}
	c.counts.compiles.Add(1)
	if err := up.close(); err != nil { // its charges go before those of the program come
		return errors.Join(err, c.live.release(r))
	}
	entry := newProgram(r)
	if err := entry.charge(c.owes, "compile", p.File); err != nil {
		return errors.Join(err, c.live.release(r))
	}
	reply := &wire.Compiled{Cached: how.cached, Key: r.at.key.String(), Notes: slices.Concat(r.exec.Notes(), how.notes)}
	if err := c.programs.add(entry, reply); err != nil {
		return errors.Join(err, c.programs.forget(entry))
	}
	return c.reply(f, reply)
}

// limit is how long a compile may run. What it waits does not count.
func (c *compiles) limit() time.Duration {
	if c.grant.Has(driverabi.EntitlementSecondaryCompiler) {
		return longCompileTime
	}
	return compileTime
}

// found says where a program was found.
type found struct {
	cached bool
	notes  []string
}

// find returns the program that p asks for. The caller releases it.
func (c *compiles) find(ctx context.Context, p *wire.Compile, up *upload) (*resident, found, error) {
	var key Key
	if p.Key != "" {
		var err error
		if key, err = parseKey(p.Key); err != nil {
			return nil, found{}, &ane.Error{Op: "compile", Engine: Name, Name: p.Key,
				Err:  ane.Because(ane.ErrName, err),
				Hint: "send the key of a Compiled"}
		}
	} else {
		if err := c.turns.do(ctx, c.number, classOf(up.text.size), c.limit(), "compile",
			func(ctx context.Context) (err error) {
				if err = up.claim(ctx, "compile", p.File); err == nil {
					key, err = up.key(ctx, c.infoOf(c.grant.mode))
				}
				return err
			}); err != nil {
			return nil, found{}, err
		}
	}
	at := residentKey{id: c.grant.ID, key: key, mode: c.grant.mode}
	if c.grant.AllowRestricted("share", driverabi.EntitlementProcessModelShare) != nil {
		at.own = c.number
	}
	var how found
	r, shared, err := c.acquire(ctx, at, func(r *resident) (ane.Executable, error) {
		src, files := &up.source, up.files
		var weights ane.Weights
		var kept *source
		if !up.lends() { // else the engine computes with what was sent, which an entry would be a copy of
			var damaged bool
			var err error
			if kept, damaged, err = c.load(ctx, p.File, key, up); err != nil {
				return nil, err
			}
			if damaged {
				c.counts.damaged.Add(1)
				how.notes = append(how.notes, "the entry in the cache was damaged and is made again")
			}
		}
		switch {
		case kept != nil:
			src, weights, files, how.cached = kept, kept, nil, true
		case p.Key != "":
			return nil, &ane.Error{Op: "compile", Engine: Name, Name: p.Key, Err: ane.ErrName,
				Detail: "the cache has no such program", Hint: "send text and weights"}
		default:
			if err := up.mapFiles("compile", p.File); err != nil {
				return nil, err
			}
			weights = up.constants()
		}
		if err := up.owe("compile", p.File, needs{memory: compileWork(int64(len(src.text)))}); err != nil {
			return nil, err
		}
		exec, err := c.compileNow(ctx, p.File, src, weights)
		if err != nil {
			return nil, err
		}
		if !how.cached && !(up.lends() && c.cache.has(c.grant.ID, key)) {
			if err := c.cache.store(c.grant.ID, key, src); err != nil {
				c.counts.uncached.Add(1)
				how.notes = append(how.notes, "not kept in the cache: "+err.Error())
			}
		}
		exec = c.keepSource(exec, p.File, src, files)
		r.source = src.bytes()
		if files != nil && files.users.Load() > 1 { // the engine computes with what they hold, or compiles it again
			r.files = files.needs()
			if own, ok := weights.(lent); ok {
				r.lent = own.shares()
				for _, s := range r.lent {
					r.source -= s.needs.memory
				}
			}
		}
		return exec, nil
	})
	if err != nil {
		return nil, found{}, err
	}
	if shared {
		how.cached = true
		c.counts.shared.Add(1)
	} else if how.cached {
		c.counts.hits.Add(1)
	}
	return r, how, nil
}

// load reads the entry of a key in the cache, which takes as long as hashing what was sent, so it has its turn.
func (c *compiles) load(ctx context.Context, file string, key Key, up *upload) (s *source, damaged bool, err error) {
	size := c.entrySize(key)
	if err := up.owe("compile", file, needs{memory: size}); err != nil {
		return nil, false, err
	}
	read := func(context.Context) error {
		s, damaged = c.cache.load(c.grant.ID, key, c.grant.mode)
		return nil
	}
	if size == 0 { // no more is read than that there is none
		err = read(ctx)
	} else {
		err = c.turns.do(ctx, c.number, classOf(int(size)), c.limit(), "compile", read)
	}
	return s, damaged, err
}

// acquire returns the program of a key, as residents.acquire does, and one of its own if the program has states.
func (c *compiles) acquire(ctx context.Context, at residentKey,
	compile func(*resident) (ane.Executable, error)) (*resident, bool, error) {
	for {
		r, shared, err := c.live.acquire(ctx, at, compile)
		if err != nil || c.live.alone(r, shared) {
			return r, shared, err
		}
		if err := c.live.release(r); err != nil {
			return nil, false, err
		}
	}
}

// compileNow has the engine compile, when it is this compile's turn.
func (c *compiles) compileNow(ctx context.Context, file string, src *source, weights ane.Weights) (
	ane.Executable, error,
) {
	var exec ane.Executable
	err := c.turns.do(ctx, c.number, classOf(len(src.text)), c.limit(), "compile",
		func(ctx context.Context) (err error) {
			room := c.owes.memory.takeUpTo(maxRoom)
			defer c.owes.memory.give(room)
			exec, err = c.engine.CompileMode(ctx, src.compile(file, weights), room, c.grant.mode)
			return err
		})
	if err != nil {
		if errors.Is(err, ane.ErrDeadline) && c.ctx.Err() == nil {
			return nil, &ane.Error{Op: "compile", Engine: Name, Name: file, Err: err,
				Rule: "the broker compiles for a bounded time",
				Hint: "split the program, or have the policy grant " + driverabi.EntitlementSecondaryCompiler}
		}
		return nil, err
	}
	return exec, nil
}

// keepSource wraps the program of a client that may make instances of it, and holds the
// files that the source lies in if it will be compiled again for them.
func (c *compiles) keepSource(exec ane.Executable, file string, src *source, files *memfds) ane.Executable {
	if !c.grant.Has(driverabi.EntitlementAdapterWeight) {
		return exec
	}
	if own, ok := exec.(driver.Instancer); ok {
		return linkable{&base{Executable: exec, file: file, src: src.names(), mode: c.grant.mode}, own}
	}
	if files != nil {
		files.users.Add(1)
	}
	return &base{Executable: exec, file: file, src: *src, mode: c.grant.mode, files: files}
}
