package engine

import "github.com/anekit/anekit/internal/engine/broker"

// ServeChild lets this program start private brokers: Open of Broker without a path runs the
// program's own executable a second time. In that second process ServeChild serves the client
// and exits; in every other process it returns at once. Call it first in main, and in TestMain
// of tests that open a private broker:
//
//	func main() {
//		engine.ServeChild()
//		...
//	}
//
// Package initialization of the program runs before main, also in the broker's process. Programs
// that never open a private broker need no call. Private brokers exist on Linux only.
func ServeChild() { broker.ServeChild() }
