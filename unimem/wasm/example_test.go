package wasm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem/wasm"
)

func Example() {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	ane.Must(r.NewHostModuleBuilder("host").NewFunctionBuilder().WithFunc(func() {}).Export("call").Instantiate(ctx))
	code := ane.Must(r.CompileModule(ctx, ane.Must(os.ReadFile("testdata/memory.wasm"))))

	module, memory, err := wasm.Instantiate(ctx, r, code, wazero.NewModuleConfig(), 1<<20)
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	defer module.Close(ctx)

	// The guest writes at a pointer of its own; the host sees the same bytes in a Block.
	ane.Must(module.ExportedFunction("store").Call(ctx, 256, 42))
	region := ane.Must(memory.InPlace(256, 64))
	defer region.Close()
	fmt.Println(region.Block().Bytes()[region.Offset()], memory.Size(), memory.Reserved(), memory.Copied())
	// Output: 42 65536 1048576 0
}
