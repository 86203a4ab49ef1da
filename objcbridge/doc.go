// Package objcbridge calls Apple's AppleNeuralEngine framework, or a stand-in library. The bridge to it is Objective-C
// with the C interface src/bridge.h. No other package uses Objective-C.
//
// # Where the bridge comes from
//
// In a darwin build with cgo the bridge is part of the binary. Elsewhere it is a shared library. Open looks for it at
// Options.Library, in the folder ANEKIT_BRIDGE_DIR, beside the executable, then in the folder "bridge" beside it. It
// never looks in the working directory. The first of these that is set or holds the library decides: a library that
// exists but cannot be used is an error, and the search ends. A Linux binary built with CGO_ENABLED=0 is static and
// cannot load libraries; Open then returns ErrBridgeUnavailable.
//
// # Lifetimes
//
// A Bridge makes Surfaces and Programs, a Program makes Requests. The owner closes each handle;
// the garbage collector frees none. Close may be repeated and may be called on nil. A method
// called after Close returns *Error with KindRefused and ReasonState. Close during a call does not
// wait: it rejects new calls, and the last running call releases the handle. Bridge.Close fails
// while a handle made with the Bridge is alive.
//
// All methods may be called from several goroutines. A Request has one run at a time; a second one
// is rejected. A call into the framework cannot be cancelled: it blocks its thread until the
// framework returns.
package objcbridge
