package objcbridge

import "errors"

// Inspect opens a bridge, collects all facts that need no compiling, and closes it. The Report
// holds the available facts even if the error is not nil, for example the self-check of a framework
// that lacks a class.
func Inspect(o Options) (Report, error) {
	report := Report{Framework: o.withDefaults().Framework}
	b, err := open(o)
	if err != nil {
		return report, err
	}
	report.Library = b.lib.path
	report.Checks, err = b.SelfCheck()
	if err == nil {
		var device Device
		if device, err = b.Device(); err == nil {
			report.Device = &device
		}
		var unread error
		if report.Registry, unread = b.Registry(); unread != nil {
			report.Unread = unread.Error()
		}
	}
	report.Usage = b.Usage()
	return report, errors.Join(err, b.Close())
}
