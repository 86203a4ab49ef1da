package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Results of WASI, from its specification.
const (
	errnoBadDescriptor = 8
	errnoNotSupported  = 58
)

// defineWASI describes the module of WASI. Standard input, output and error stay open: a guest has no other files, so that
// its descriptors are no state.
func defineWASI(r wazero.Runtime) wazero.HostModuleBuilder {
	b := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
		result := uint64(errnoBadDescriptor)
		if uint32(stack[0]) <= 2 {
			result = errnoNotSupported
		}
		stack[0] = result
	}), []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export("fd_close")
	return b
}
