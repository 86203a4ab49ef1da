// Package bridgetest finds or builds the libraries for tests of the bridge. They are the bridge, the
// stand-in for AppleNeuralEngine, and the stand-in for CoreFoundation and IOSurface. On a machine that
// cannot have them it skips such tests with one line: the reason and the fix.
package bridgetest
