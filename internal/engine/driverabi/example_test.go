package driverabi_test

import (
	"fmt"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// A request goes through the control client's dispatcher, and one of the wrong size does
// not reach the handler.
func ExampleDispatcher() {
	submit := func(_ any, a *driverabi.Args) driverabi.Return {
		var request driverabi.SendRequest
		if err := request.Decode(a.StructIn); err != nil {
			return driverabi.BadArgument
		}
		reply := driverabi.SendReply{Sequence: request.Sequence, Token: request.Token}
		if err := reply.Encode(a.StructOut); err != nil {
			return driverabi.BadArgument
		}
		return driverabi.Success
	}
	control, err := driverabi.NewDispatcher(driverabi.ControlMethods(),
		map[int]driverabi.Handler{driverabi.ControlSendRequest: submit})
	if err != nil {
		fmt.Println(err)
		return
	}

	request := driverabi.SendRequest{Token: 7, Sequence: 1, Category: driverabi.IOCategory,
		QoS: driverabi.QoSDefault, Priority: driverabi.Priority(driverabi.QoSDefault)}
	args := driverabi.Args{ScalarIn: make([]uint64, 1),
		StructIn: make([]byte, driverabi.SendRequestSize), StructOut: make([]byte, driverabi.SendReplySize)}
	if err := request.Encode(args.StructIn); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(control.Call(nil, driverabi.ControlSendRequest, &args))

	args.StructIn = args.StructIn[1:]
	fmt.Println(control.Call(nil, driverabi.ControlSendRequest, &args))
	fmt.Println(control.Call(nil, driverabi.ControlLoadFirmware, &driverabi.Args{ScalarIn: make([]uint64, 3)}))
	// Output:
	// kIOReturnSuccess (0x0)
	// kIOReturnBadArgument (0xe00002c2)
	// kIOReturnUnsupported (0xe00002c7)
}
