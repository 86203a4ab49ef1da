package main

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/step"
)

// guest is a module that exports run(n): it calls an imported function n times, at least once.
func guest(module, function string) []byte {
	sized := func(s string) string { return string(rune(len(s))) + s }
	text := "\x00asm\x01\x00\x00\x00"
	for _, s := range []string{
		"\x01" + sized("\x02\x60\x00\x01\x7f\x60\x01\x7f\x00"),          // types: () -> i32, (i32) -> ()
		"\x02" + sized("\x01"+sized(module)+sized(function)+"\x00\x00"), // the import is function 0
		"\x03\x02\x01\x01",         // function 1 is of type 1
		"\x05\x04\x01\x01\x01\x01", // a page of memory
		"\x07" + sized("\x02"+sized("run")+"\x00\x01"+sized("memory")+"\x02\x00"),
		"\x0a" + sized("\x01"+sized("\x00\x03\x40\x10\x00\x1a\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x0b")),
	} {
		text += s
	}
	return []byte(text)
}

// wasm compares calls between the host and a guest with those of bare wazero.
func (o options) wasm(t *step.T) {
	d := step.Must(engine.Open(t.Ctx, engine.Soft, engine.AllowOffsets()))
	t.Closing(d.Close)
	host := step.Must(wasm.NewHost(t.Ctx, d))
	t.Later(host.Close)
	code := step.Must(host.Compile(t.Ctx, guest("anekit", "version")))
	ours := step.Must(code.Start(t.Ctx, wasm.Limits{Memory: 1 << 20}))
	t.Later(ours.Close)

	r := wazero.NewRuntime(t.Ctx)
	t.Later(r.Close)
	one := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = 1 })
	step.Must(r.NewHostModuleBuilder("env").NewFunctionBuilder().WithGoFunction(one, nil,
		[]api.ValueType{api.ValueTypeI32}).Export("version").Instantiate(t.Ctx))
	bare := step.Must(r.Instantiate(t.Ctx, guest("env", "version"))).ExportedFunction("run")
	for _, row := range []struct {
		name         string
		calls, inner int
		wanted       float64
	}{{"1,000 calls of the host by a guest", 1, 1000, 1.5}, {"1,000 calls into a guest", 1000, 1, 1.5}} {
		if !o.wants(row.name) {
			continue
		}
		best := o.pair(func() {
			for range row.calls {
				step.Must(ours.Call(t.Ctx, "run", uint64(row.inner)))
			}
		}, func() {
			for range row.calls {
				step.Must(bare.Call(t.Ctx, uint64(row.inner)))
			}
		})
		o.print(row.name, best[0], best[1], row.wanted)
	}
}
