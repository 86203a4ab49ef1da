package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/anekit/anekit/internal/guestcode"
)

// wazero starts a goroutine for each call into code that a context can end. It does so by the function that is called,
// not by those that this one calls. So Call calls an entrance: a module that imports the exports of a guest, and exports
// for each a function that calls it. A second runtime, whose code no context ends, compiles this module, and the
// guest's runtime instantiates it. Closing the entrance ends its calls: the checks in the guest's loops look at the
// module that was called.
//
// A runtime compares imports by the numbers of their types, which it gives in the order in which it meets them. So
// both runtimes have the same host modules and meet the types of each guest in one order. Where the numbers differ
// nevertheless, wazero refuses the entrance, and Call calls the guest's own export.

// runtimes are those that number types. The code of an Uninterrupted Host needs no entrances.
func (h *Host) runtimes() []wazero.Runtime {
	if h.config.endless {
		return []wazero.Runtime{h.runtime}
	}
	return []wazero.Runtime{h.runtime, h.direct}
}

// number has both runtimes number the types of a binary.
func (h *Host) number(ctx context.Context, text []byte) error {
	sections, err := guestcode.Split(text)
	if err != nil {
		return err
	}
	types := guestcode.Join(slices.DeleteFunc(sections, func(s guestcode.Section) bool {
		return s.ID != guestcode.Types
	}))
	h.types.Lock()
	defer h.types.Unlock()
	for _, r := range h.runtimes() {
		m, err := r.CompileModule(ctx, types)
		if err != nil {
			return err
		}
		if err := m.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// entrance compiles the entrance of a binary, once; nil if wazero refuses it.
func (c *Binary) entrance() wazero.CompiledModule {
	c.once.Do(func() {
		m, err := c.host.direct.CompileModule(context.Background(), entranceOf(c.module.ExportedFunctions()))
		if err == nil {
			c.entered = m
		}
	})
	return c.entered
}

// guestModule is the name from which an entrance imports.
const guestModule = "guest"

// entranceOf is the binary of an entrance to exported functions.
func entranceOf(exports map[string]api.FunctionDefinition) []byte {
	names := slices.Sorted(maps.Keys(exports))
	number := func(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }
	text := func(b []byte, s string) []byte { return append(number(b, len(s)), s...) }
	var bodies [5][]byte
	types, imports, funcs, out, code := &bodies[0], &bodies[1], &bodies[2], &bodies[3], &bodies[4]
	for i := range bodies {
		bodies[i] = number(nil, len(names))
	}
	for i, name := range names {
		params, results := exports[name].ParamTypes(), exports[name].ResultTypes()
		*types = text(text(append(*types, 0x60), string(params)), string(results))
		*imports = number(append(text(text(*imports, guestModule), name), 0), i)
		*funcs = number(*funcs, i)
		*out = number(append(text(*out, name), 0), len(names)+i)
		body := []byte{0} // no locals
		for p := range params {
			body = number(append(body, 0x20), p) // local.get
		}
		body = append(number(append(body, 0x10), i), 0x0b) // call, end
		*code = text(*code, string(body))
	}
	return guestcode.Join([]guestcode.Section{{ID: guestcode.Types, Body: *types}, {ID: guestcode.Imports, Body: *imports},
		{ID: guestcode.Funcs, Body: *funcs}, {ID: guestcode.Exports, Body: *out}, {ID: guestcode.Code, Body: *code}})
}

// enter instantiates the entrance to a guest; nil if there is none.
func (g *Guest) enter() api.Module {
	code := g.calls.code.entrance()
	if code == nil {
		return nil
	}
	ctx := experimental.WithImportResolver(context.Background(), func(name string) api.Module {
		if name != guestModule {
			return nil
		}
		return g.module
	})
	m, err := g.host.runtime.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil
	}
	return m
}

// entry is how Call calls an export.
type entry struct {
	api.Function
	name    string
	params  int // numbers of 64 bits
	results int
	stack   []uint64 // of parameters, then of results
}

// entry finds an export; nil if it is none. The caller holds mu.
func (g *Guest) entry(name string) *entry {
	c := &g.calls
	if c.last != nil && c.last.name == name {
		return c.last
	}
	e := c.entries[name]
	if e == nil {
		f := g.module.ExportedFunction(name)
		if f == nil {
			return nil
		}
		if c.entrance == nil && !g.host.config.endless && len(c.entries) == 0 && compiled(f) {
			c.entrance = g.enter()
		}
		if c.entrance != nil {
			f = c.entrance.ExportedFunction(name)
		}
		e = &entry{Function: f, name: name, params: numbers(f.Definition().ParamTypes()),
			results: numbers(f.Definition().ResultTypes())}
		e.stack = make([]uint64, max(e.params, e.results))
		c.entries[name] = e
	}
	c.last = e
	return e
}

// compiled reports whether f is machine code. wazero's interpreter looks at other modules in loops.
func compiled(f api.Function) bool { return strings.HasPrefix(fmt.Sprintf("%T", f), "*wazevo.") }

// numbers counts the numbers that encode values of types.
func numbers(types []api.ValueType) (n int) {
	const v128 = 0x7b
	for _, t := range types {
		if n++; t == v128 {
			n++
		}
	}
	return n
}
