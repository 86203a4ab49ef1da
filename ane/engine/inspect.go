package engine

import "github.com/anekit/anekit/objcbridge"

// Inspect tells what can be told of the framework behind Apple or StandIn without
// compiling anything: the self-check of every method that is called, the device,
// and what the process has spent. The report holds what could be had also when
// the error is not nil. Other engines have no framework: ane.ErrName.
func Inspect(name string) (objcbridge.Report, error) {
	c, err := frameworkOf(name)
	if err != nil {
		return objcbridge.Report{}, err
	}
	return objcbridge.Inspect(c.Bridge)
}
