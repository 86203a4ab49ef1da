package hal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
)

// digest identifies the content of a program, its weights and the engine.
type digest [sha256.Size]byte

// cache has the programs of a Device by content.
type cache struct {
	device *Device

	mu       sync.Mutex
	programs map[digest]*program
	idle     []*program // programs without an Executable, the least recently used one first
	kept     int        // programs, with those that could not be closed, without those that trim closes now
}

// program is a program of the cache.
type program struct {
	key   digest
	ready chan struct{} // closed when model or err is set
	model *ane.Model
	err   error

	// The mutex of the cache guards the fields below.
	users int // Executables, and calls of Prepare
}

// Prepare compiles and loads a program, or finds it: equal content (text, function, weights) is compiled once on a
// Device, also by concurrent calls. The caller closes the Executable. Errors are those of ane's Device.Compile and
// Model.Load, and ErrClosed.
func (d *Device) Prepare(ctx context.Context, src ane.Source) (*Executable, error) {
	if err := d.begin("prepare"); err != nil {
		return nil, err
	}
	defer d.active.Leave()
	ctx, stop := d.bound(given(ctx))
	defer stop()
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("prepare", d.info.Name, err)
	}
	src, key, err := d.identify(src)
	if err != nil {
		return nil, err
	}
	for {
		p, mine, err := d.program(ctx, key, func() (*ane.Model, error) { return d.compile(ctx, src) })
		if !mine && cutShort(err) && ctx.Err() == nil {
			continue // the context of the call that compiled has ended: compile again
		}
		if err != nil {
			return nil, err
		}
		if mine {
			d.config.folder.store(key, src)
		} else {
			d.stats.hits.Add(1)
			d.config.folder.touch(key)
		}
		return &Executable{device: d, program: p, in: p.model.Inputs(), out: p.model.Outputs(), found: !mine}, nil
	}
}

// program returns the loaded program of key, which the caller releases. mine tells that this call made it, by load.
func (d *Device) program(ctx context.Context, key digest, load func() (*ane.Model, error)) (p *program, mine bool,
	err error) {
	p, mine = d.cache.find(key)
	if mine {
		p.model, p.err = load()
		close(p.ready)
	} else {
		select {
		case <-p.ready:
		case <-ctx.Done():
			_ = d.cache.release(ctx, p)
			return nil, false, ane.Deadline("prepare", d.info.Name, ctx.Err())
		}
	}
	if p.err != nil {
		d.cache.forget(p)
	}
	return p, mine, p.err
}

// cutShort reports whether a context ended a call.
func cutShort(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// bound returns ctx, which also ends when Close cancels what runs.
func (d *Device) bound(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.life, func() { cancel(ErrClosed) })
	return both, func() {
		stop()
		cancel(nil)
	}
}

// compile compiles and loads a program. If the engine has reached a limit, it closes idle programs and tries again.
// Only without any does the engine wait for other processes.
func (d *Device) compile(ctx context.Context, src ane.Source) (*ane.Model, error) {
	first := ctx
	if d.cache.hasIdle() {
		first = ane.FailFast(ctx)
	}
	m, err := d.load(first, src)
	if errors.Is(err, ane.ErrExhausted) && d.cache.hasIdle() {
		_ = d.cache.trim(ctx, 0) // the second try reports what is still wrong
		return d.load(ctx, src)
	}
	return m, err
}

func (d *Device) load(ctx context.Context, src ane.Source) (*ane.Model, error) {
	m, err := d.engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	d.stats.compiles.Add(1)
	if err := m.Load(ctx); err != nil {
		return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// find returns the program of key, which the caller releases. It reports whether the caller has to compile it.
func (c *cache) find(key digest) (p *program, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p = c.programs[key]
	if p == nil {
		if c.programs == nil {
			c.programs = map[digest]*program{}
		}
		p = &program{key: key, ready: make(chan struct{})}
		c.programs[key] = p
		c.kept++
		mine = true
	}
	c.idle = slices.DeleteFunc(c.idle, func(q *program) bool { return q == p })
	p.users++
	return p, mine
}

// forget removes a program that does not compile.
func (c *cache) forget(p *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.users--
	if c.programs[p.key] == p {
		delete(c.programs, p.key)
		c.kept--
	}
}

// release ends one use of a program, and closes programs beyond the limit.
func (c *cache) release(ctx context.Context, p *program) error {
	c.mu.Lock()
	p.users--
	if p.users == 0 && c.programs[p.key] == p {
		c.idle = append(c.idle, p)
	}
	c.mu.Unlock()
	return c.trim(ctx, c.device.config.folder.limit)
}

// hasIdle reports whether trim could close a program.
func (c *cache) hasIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.idle) > 0
}

// trim closes idle programs until at most limit programs are kept. A program that cannot be closed is found no more,
// and stays for a later call.
func (c *cache) trim(ctx context.Context, limit int) error {
	for {
		c.mu.Lock()
		if len(c.idle) == 0 || c.kept <= limit {
			c.mu.Unlock()
			return nil
		}
		p := c.idle[0]
		c.idle = slices.Delete(c.idle, 0, 1)
		if c.programs[p.key] == p {
			delete(c.programs, p.key)
		}
		c.kept-- // before the close, during which another call would else close one more
		c.mu.Unlock()
		if err := p.close(ctx); err != nil {
			c.mu.Lock()
			c.idle = slices.Insert(c.idle, 0, p)
			c.kept++
			c.mu.Unlock()
			return err
		}
	}
}

// close unloads a program; one that never compiled has nothing to close. It waits until ctx ends for a run that the
// engine has abandoned.
func (p *program) close(ctx context.Context) error {
	<-p.ready // it has no users, so this does not wait
	if p.model == nil {
		return nil
	}
	for {
		err := p.model.Close(ctx)
		if !errors.Is(err, ane.ErrBusy) {
			return err
		}
		if pause(ctx) != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// close closes every program, also those with an open Executable. The Device has ended their runs.
func (c *cache) close(ctx context.Context) error {
	c.mu.Lock()
	for _, p := range c.programs {
		if !slices.Contains(c.idle, p) {
			c.idle = append(c.idle, p)
		}
	}
	c.mu.Unlock()
	return c.trim(ctx, 0)
}

// identify returns the Source with a text, and the digest of its content and of the engine.
func (d *Device) identify(src ane.Source) (ane.Source, digest, error) {
	if tree := src.Program != nil && src.Program.Tree() != nil; tree == (src.Text != nil) {
		return src, digest{}, &ane.Error{Op: "prepare", Engine: d.info.Name, Name: src.File, Err: ane.ErrCompile,
			Detail: "the Source has both or none of Program and Text", Hint: "give one of them"}
	}
	if w, ok := src.Program.(ane.Weights); ok && src.Weights == nil {
		src.Weights = w
	}
	text, err := src.MIL()
	if err != nil {
		return src, digest{}, ane.Because(ane.ErrCompile, err)
	}
	tree, err := src.Tree()
	if err != nil {
		return src, digest{}, ane.Because(ane.ErrCompile, err)
	}
	function := src.Function
	if f := tree.Select(function); f != nil { // the compiler reports a function that is not there
		function = f.Name
	}
	h := sha256.New()
	i := d.info
	for _, s := range []string{"anekit hal 1", i.Name, i.Chip, i.OSBuild, i.Numerics, i.Sharing, function} {
		add(h, []byte(s))
	}
	add(h, []byte(fmt.Sprint(i.Offsets, src.Residency)))
	add(h, text)
	var paths []string
	for _, b := range tree.Blobs() {
		if s, err := b.Path.Strings(); err == nil { // the compiler reports a malformed path
			paths = append(paths, s...)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	files := ane.Files{}
	for _, path := range paths {
		add(h, []byte(path))
		data, err := []byte(nil), fs.ErrNotExist
		if src.Weights != nil {
			data, err = src.Weights.ReadFile(path)
		}
		if err != nil {
			continue // the compiler reports it; without the file's content the digest is another one
		}
		add(h, data)
		files[path] = data
	}
	if src.Weights != nil && len(files) == len(paths) {
		src.Weights = files // compile exactly what was read
	}
	return src, digest(h.Sum(nil)), nil
}

// add adds b with its length, so that no two lists of slices have the same sum.
func add(h hash.Hash, b []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}
