package standin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin/internal/entry"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Framework is the running stand-in. Its methods may be called from several goroutines.
type Framework struct {
	options Options
	library *library
	server  *server
}

// process holds what a process has only once: libraries that are never unloaded
// and classes that are never unregistered.
var process struct {
	mu        sync.Mutex // guards library and framework, and serializes their creation
	library   *library
	framework *Framework
	pool      *os.File       // made here, and open as long as the process; nil if another names the pool
	pins      runtime.Pinner // of what the framework may keep

	programs programs
}

// Probe loads the libraries. Its error matches ane.ErrUnavailable and has what is
// missing and the fix.
func Probe() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	l := process.library
	if l == nil {
		var err error
		if l, err = loaded(""); err != nil {
			return err
		}
	}
	if err := objcbridge.Probe(l.bridge()); err != nil {
		return &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err)}
	}
	return nil
}

// Start starts the framework once for the life of the process. A second Start with the
// same Options returns the same Framework, and with others an error that matches
// ane.ErrInUse. Other errors match ane.ErrUnavailable, or ane.ErrName or ane.ErrLength
// for invalid Options.
//
// The framework replays the dump that Options or EnvDump name: see ReadDump, whose
// error Start returns.
func Start(o Options) (*Framework, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Dump == "" {
		o.Dump = os.Getenv(EnvDump)
	}
	o.StrictSurfaces = o.StrictSurfaces || os.Getenv(EnvStrict) != ""
	process.mu.Lock()
	defer process.mu.Unlock()
	if f := process.framework; f != nil {
		if !f.options.same(o) {
			return nil, &ane.Error{Op: "open", Engine: Name, Err: ane.ErrInUse,
				Detail: fmt.Sprintf("the framework already runs in this process, with %+v", f.options),
				Hint:   "start it once with the same Options, or use another process"}
		}
		return f, nil
	}
	dump, list, err := replayed(o.Dump)
	if err != nil {
		return nil, err
	}
	l, err := loaded(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Pool, err = l.pool(o.Pool); err != nil {
		return nil, err
	}
	o.Missing, o.Changed = slices.Clone(o.Missing), slices.Clone(o.Changed)
	f := &Framework{options: o, library: l, server: newServer(l, dump).emulating(o.Chip)}
	f.server.profile = o.with(dump).profile()
	entry.Serve(f.server)
	switch code := l.begin(o.with(dump), list); code {
	case 0:
		process.framework = f
		return f, nil
	case 1:
		return nil, &ane.Error{Op: "open", Engine: Name, Name: o.profile(), Err: ane.ErrName,
			Detail: "the library does not have this profile", Hint: "run `make bridge` to build the library of this " +
				"version"}
	case 3:
		return nil, &ane.Error{Op: "open", Engine: Name, Name: dump.File, Err: ane.ErrUnavailable,
			Detail: "the framework cannot read the values of the dump", Hint: "start it without " + EnvDump}
	case 4:
		return nil, &ane.Error{Op: "open", Engine: Name, Name: o.Pool, Err: ane.ErrUnavailable,
			Detail: "the pool of slots cannot be opened", Hint: "set " + EnvPool + " to a file that can be written, or unset it"}
	default:
		return nil, &ane.Error{Op: "open", Engine: Name, Err: ane.ErrInUse,
			Detail: fmt.Sprintf("standin_start returned %d: other code has started the framework in this process",
				code),
			Hint: "use another process"}
	}
}

// replayed reads the named dump and returns it with its property list for the
// framework; nil without a name.
func replayed(name string) (*Dump, []byte, error) {
	if name == "" {
		return nil, nil, nil
	}
	d, err := ReadDump(name)
	if err != nil {
		return nil, nil, err
	}
	list, err := d.list()
	if err != nil {
		return nil, nil, &ane.Error{Op: "open", Engine: Name, Name: d.File, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "the dump cannot be replayed", Hint: "start without " + EnvDump}
	}
	return d, list, nil
}

// Replayed returns the dump that the framework of this process replays. ok is false if
// it replays none or has not been started.
func Replayed() (d *Dump, ok bool) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.framework == nil || process.framework.server.dump == nil {
		return nil, false
	}
	return process.framework.server.dump, true
}

// Surfaces opens memory on surfaces of the stand-in for IOSurface. The framework uses such Blocks directly.
func (f *Framework) Surfaces() unimem.Option {
	l, err := f.running("surfaces")
	if err != nil {
		return blockoption.On(nil) // opens no memory
	}
	return blockoption.On(l.surfaces)
}

// running returns the libraries. Only a Framework from Start has them.
func (f *Framework) running(op string) (*library, error) {
	if f == nil || f.library == nil {
		return nil, &ane.Error{Op: op, Engine: Name, Err: ane.ErrUnavailable, Detail: "no framework",
			Hint: "use the Framework that Start returns"}
	}
	return f.library, nil
}

// Config returns the configuration for apple.Open to drive this framework. Programs run
// on the software engine, on the pages of Blocks opened with Surfaces, and
// on Linux also of Blocks opened without options.
func (f *Framework) Config() apple.Config {
	if _, err := f.running("config"); err != nil {
		return apple.Config{Name: Name}
	}
	sharing := "the software engine finds each surface by its id"
	if d := f.server.dump; d != nil {
		sharing += "; replaying " + d.File
	}
	return apple.Config{
		Name:     Name,
		Numerics: "the software engine behind stand-in classes, no Neural Engine; " + f.server.engine.Info().Numerics,
		Sharing:  sharing,
		Bridge: objcbridge.Options{
			Library:      f.library.bridge(),
			Framework:    filepath.Join(f.library.dir, frameworkFile),
			IOKit:        filepath.Join(f.library.dir, frameworkFile), // it also has the registry
			ProgramLimit: f.options.ProgramLimit,
		},
		Memory:  []unimem.Option{f.Surfaces()},
		Surface: f.surfaceOf,
		Pause:   hundredth,
		Open:    process.programs.open,
		Close:   process.programs.close,
	}
}

// hundredth waits for a hundredth of the time: the stand-in's machine frees a slot at once.
func hundredth(ctx context.Context, d time.Duration) bool { return apple.Pause(ctx, d/100) }
