package engine

import "github.com/anekit/anekit/internal/engine/broker"

// ServeChild lets this program start private brokers: Open of Broker without a path runs the program's executable
// again. In that second process ServeChild serves the client and exits; in every other process it returns at once. Call
// it first in main, and in TestMain of tests that open a private broker:
//
//	func main() {
//		engine.ServeChild()
//		...
//	}
//
// Package initialization runs before main, also in the broker's process. Programs that never open a private broker need
// not call it. Private brokers need Linux.
func ServeChild() { broker.ServeChild() }
