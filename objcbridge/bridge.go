// Package objcbridge is the only place that knows Objective-C: it will carry
// the calls to Apple's AppleNeuralEngine framework, behind a small C interface.
//
// This version holds no bridge yet. Probe says so, and the engines that need it
// are reported as not available, with this reason.
package objcbridge

import "errors"

// ErrBridgeUnavailable: this build has no Objective-C bridge, so neither
// Apple's engine nor its stand-in can be reached.
var ErrBridgeUnavailable = errors.New("this version of anekit has no Objective-C bridge yet")

// Probe returns nil when a bridge can be used, else an error matching
// ErrBridgeUnavailable.
func Probe() error { return ErrBridgeUnavailable }
