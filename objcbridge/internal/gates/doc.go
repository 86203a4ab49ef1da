// Package gates tests that the Objective-C bridge and the stand-in for Apple's framework leak nothing. A
// planted leak proves that each gate works:
//
//	counts of live objects   what bridge and stand-in count themselves
//	AddressSanitizer         use after release, in C; unreachable memory, in a Go process
//	GNUstep's allocations    objects alive by class
//	valgrind                 memory that nothing points to
//	files                    the programs' directories in the temporary folder
//	bytes in use             flat over 100,000 evaluations and 100,000 exceptions
//
// The tests compile the C programs in testdata and those of the stand-in; see testdata/gate.h for the
// leaks that can be planted. The package has only tests, on Linux with cgo.
package gates
