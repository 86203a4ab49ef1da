// Package objcbridge carries calls to Apple's AppleNeuralEngine framework, or to a library that
// stands in for it, through a bridge written in Objective-C behind the C interface src/bridge.h.
// It is the only package that knows Objective-C.
//
// # Where the bridge comes from
//
// In a darwin build with cgo the bridge is part of the binary. Elsewhere it is a shared library,
// looked for under Options.Library, else in the folder that ANEKIT_BRIDGE_DIR names, else beside
// the executable, else in the folder "bridge" beside the executable; never in the working
// directory. The first of these that is given or holds the library decides: a library that is
// there but cannot be used is an error, not a reason to look further. A Linux binary built with
// CGO_ENABLED=0 is static and cannot load libraries; it answers ErrBridgeUnavailable.
//
// # Lifetimes
//
// A Bridge makes Surfaces and Programs, a Program makes Requests. Each is closed once by its
// owner; nothing is freed by the garbage collector. Close may be repeated, on nil too. A method
// called after Close answers *Error with KindRefused and ReasonState. Close during a call does not
// wait: it ends the handle for new calls, and whoever comes last, Close or the last running call,
// gives it back to the bridge. A run begun with Start counts as a running call until it has been
// answered or forgotten. Bridge.Close is refused while anything made with the Bridge is alive.
//
// All methods may be called from several goroutines. A Request runs once at a time; a second run
// meanwhile is refused. A call into the framework cannot be cancelled: it blocks its thread for as
// long as the framework takes.
package objcbridge
