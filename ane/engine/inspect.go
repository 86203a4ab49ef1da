package engine

import (
	"fmt"
	"runtime"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/device"
	"github.com/anekit/anekit/ane/standin"
	"github.com/anekit/anekit/objcbridge"
)

// Inspect tells what can be told of the framework behind Apple or StandIn without
// compiling anything: the self-check of every method that is called, the device,
// and what the process has spent. The report holds what could be had also when
// the error is not nil. Other engines have no framework: ane.ErrName.
func Inspect(name string) (objcbridge.Report, error) {
	switch name {
	case Apple:
		if runtime.GOOS != "darwin" {
			return objcbridge.Report{}, fmt.Errorf("needs macOS, this is %s", runtime.GOOS)
		}
		return objcbridge.Inspect(device.Apple().Bridge)
	case StandIn:
		if err := standin.Probe(); err != nil {
			return objcbridge.Report{}, err
		}
		f, err := standin.Start(standin.Options{})
		if err != nil {
			return objcbridge.Report{}, err
		}
		return objcbridge.Inspect(f.Config().Bridge)
	}
	return objcbridge.Report{}, &ane.Error{Op: "inspect", Engine: name, Err: ane.ErrName, Hint: "choose " + Apple + " or " + StandIn}
}
