//go:build linux && cgo

package standin

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/engine/standin/internal/entry"
)

// cConfig is standin_config and cServer standin_server of standin.h. The header
// is not included, so that the package builds where only Go packages exist, as in
// a vendor folder.
type cConfig struct {
	profile          *byte
	missing, changed **byte // terminated by NULL
	pool             *byte  // NULL for slots of this process
	replay           *byte  // NULL without a dump
	slots            int32
	strictSurfaces   int32
	server           cServer
}

type cServer struct {
	context uintptr // 0, since a process has one server
	entry.Functions
}

// begin starts the framework and returns the result of standin_start. Its
// arguments stay pinned for the life of the process, because the framework may
// keep the pointers. replay is a property list, or nil.
func (l *library) begin(o Options, replay []byte) int {
	var forever runtime.Pinner
	var dumped *byte
	if replay != nil {
		dumped = text(string(replay))
		forever.Pin(dumped)
	}
	var named *byte
	if o.Pool != "" {
		named = text(o.Pool)
		forever.Pin(named)
	}
	list := func(words []string) **byte {
		pointers := make([]*byte, len(words)+1)
		for i, w := range words {
			pointers[i] = text(w)
			forever.Pin(pointers[i])
		}
		forever.Pin(&pointers[0])
		return &pointers[0]
	}
	config := &cConfig{
		profile:        *list([]string{o.profile()}),
		missing:        list(o.Missing),
		changed:        list(o.Changed),
		pool:           named,
		replay:         dumped,
		slots:          o.slots(),
		strictSurfaces: asInt(o.StrictSurfaces),
		server:         cServer{Functions: entry.Addresses()},
	}
	forever.Pin(config)
	l.pins = append(l.pins, &forever)
	r, _, _ := purego.SyscallN(l.start, uintptr(unsafe.Pointer(config)))
	return int(int32(r))
}

// asInt is C's truth.
func asInt(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
