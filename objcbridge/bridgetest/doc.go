// Package bridgetest finds or builds the libraries that tests of the bridge need: the bridge itself,
// the stand-in for AppleNeuralEngine, and the stand-in for CoreFoundation and IOSurface. A machine
// that cannot have them skips such tests with one line that says why and how to get them.
package bridgetest
