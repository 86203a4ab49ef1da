// Package gates holds the tests that the Objective-C bridge, and the stand-in for Apple's framework,
// leave nothing behind. Each gate is shown to catch a leak that was planted for it:
//
//	counts of live objects   what bridge and stand-in count themselves
//	AddressSanitizer         use after release, in C; unreachable memory, in a Go process
//	GNUstep's allocations    objects alive by class
//	valgrind                 memory that nothing points to
//	files                    the programs' directories in the temporary folder
//	bytes in use             flat over 100,000 evaluations and 100,000 exceptions
//
// The C programs in testdata and those of the stand-in are compiled by the tests; see testdata/gate.h for
// what can be planted. The package has tests only, on Linux with cgo; elsewhere there is nothing to run.
package gates
