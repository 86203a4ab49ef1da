package driverabi_test

import (
	"fmt"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// A request goes through the control client's dispatcher, and one of the wrong size does
// not reach the handler.
func ExampleDispatcher() {
	submit := func(_ any, a *driverabi.Args) error {
		driverabi.ReplyToken.Put(a.StructOut, driverabi.RequestToken.Get(a.StructIn))
		return nil
	}
	control := driverabi.NewDispatcher(driverabi.ControlMethods(),
		map[int]driverabi.Handler{driverabi.ControlSendRequest: submit})

	args := driverabi.Args{ScalarIn: make([]uint64, 1),
		StructIn: make([]byte, driverabi.SendRequestSize), StructOut: make([]byte, driverabi.SendReplySize)}
	driverabi.RequestToken.Put(args.StructIn, 7)
	fmt.Println(control.Call(nil, driverabi.ControlSendRequest, &args), driverabi.ReplyToken.Get(args.StructOut))

	args.StructIn = args.StructIn[1:]
	fmt.Println(control.Call(nil, driverabi.ControlSendRequest, &args))
	fmt.Println(control.Call(nil, driverabi.ControlLoadFirmware, &driverabi.Args{ScalarIn: make([]uint64, 3)}))
	// Output:
	// <nil> 7
	// kIOReturnBadArgument (0xe00002c2)
	// kIOReturnUnsupported (0xe00002c7)
}
