//go:build linux && cgo && (amd64 || arm64)

package dma

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/fakeiokit"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
	"github.com/anekit/anekit/unimem/dma/internal/iokit/dynamic"
)

// fake is the library that runs the extension. The process has one.
type fake struct {
	table *iokit.Table

	limits  func(longest, space uint64)
	fail    func(call string, nth, code int32)
	stall   func(call string)
	waiting func() int32
	resume  func()
	live    func(what int32) int64
	write   func(at uint64, value uint8) int32
}

// What live counts.
const (
	liveMemory = iota
	livePrepared
	livePorts
	liveDictionaries
	liveMappings
	liveKinds
)

// extension is that of the folder dext.
var extension = fakeiokit.Extension{Folder: "dext_dma", Classes: []string{"AnekitDMADriver", "AnekitDMAClient"}}

var building struct {
	sync.Mutex
	fake *fake
	err  error
}

// library builds and loads the library once, and fails a test after which something of it lives.
func library(t *testing.T) *fake {
	leaktest.SkipEmulated(t)
	building.Lock()
	defer building.Unlock()
	if building.fake == nil && building.err == nil {
		building.fake, building.err = build(t)
	}
	if errors.Is(building.err, fakeiokit.ErrCompiler) {
		t.Skip(building.err)
	}
	require.NoError(t, building.err)
	f := building.fake
	t.Cleanup(func() {
		f.limits(0, 0)
		f.fail("", 0, 0)
		f.resume()
		for kind, name := range []string{"objects", "prepared commands", "ports", "dictionaries", "mappings"} {
			require.Zero(t, f.live(int32(kind)), "%s live at the end of the test", name)
		}
	})
	return f
}

func build(t *testing.T) (*fake, error) {
	path, err := fakeiokit.Build(t.Context(), t.TempDir(), os.DirFS("dext"), extension)
	if err != nil {
		return nil, err
	}
	table, err := dynamic.Load(path)
	if err != nil {
		return nil, err
	}
	lib, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	f := &fake{table: table}
	purego.RegisterLibFunc(&f.limits, lib, "fake_limits")
	purego.RegisterLibFunc(&f.fail, lib, "fake_fail")
	purego.RegisterLibFunc(&f.stall, lib, "fake_stall")
	purego.RegisterLibFunc(&f.waiting, lib, "fake_waiting")
	purego.RegisterLibFunc(&f.resume, lib, "fake_resume")
	purego.RegisterLibFunc(&f.live, lib, "fake_live")
	purego.RegisterLibFunc(&f.write, lib, "fake_write")
	return f, nil
}

// device connects to the extension; the test closes it at its end.
func (f *fake) device(t *testing.T, opts ...Option) *Device {
	c, err := connectTo(t.Context(), f.table, extensionService)
	require.NoError(t, err)
	d := New(c, opts...)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// pages opens a Block of n pages, which the test closes at its end. On the heap its address is a multiple of
// PageSize, as that of an IOSurface is; a memfd of Linux has pages of 4 KiB.
func pages(t *testing.T, n int) *unimem.Block {
	b, err := unimem.Open(n*PageSize, unimem.OnHeap())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}
