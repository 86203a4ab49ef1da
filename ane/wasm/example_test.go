package wasm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
)

func Example() {
	ctx := context.Background()
	device := ane.Must(engine.Open(ctx, engine.Soft, engine.AllowOffsets()))
	defer device.Close()
	host := ane.Must(wasm.NewHost(ctx, device, wasm.Program("identity", ane.Source{Text: []byte(`program(1.3) {
	func main<ios18>(tensor<fp16, [1, 4]> x) {
		tensor<fp16, [1, 4]> y = identity(x = x);
	} -> (y);
}`)})))
	defer host.Close(ctx)
	code := ane.Must(host.Compile(ctx, ane.Must(os.ReadFile("testdata/calls.wasm"))))
	defer code.Close(ctx)
	guest := ane.Must(code.Start(ctx, wasm.Limits{Memory: 1 << 20}))
	defer guest.Close(ctx)

	// A guest calls these functions itself; this one exports them, so that the steps are seen here.
	call := func(name string, args ...uint64) uint64 { return ane.Must(guest.Call(ctx, name, args...))[0] }
	memory := ane.Must(guest.Memory().Range(0, 65536))
	copy(memory, "identityxy")
	program := call("program_open", 0, 8)
	request := call("request_open", program)
	call("bind", request, 8, 1, 1024, 64)
	call("bind", request, 9, 1, 2048, 64)
	copy(memory[1024:], []byte{0, 0x3c, 0, 0x40}) // 1 and 2
	fmt.Println(int32(call("evaluate", request)), memory[2048:2052], guest.Copied())
	fmt.Println(wasm.Code(call("evaluate", 99)))
	// Output:
	// 0 [0 60 0 64] 0
	// code handle
}
