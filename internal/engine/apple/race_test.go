//go:build race

package apple_test

// slack is the factor of memory that the race detector keeps in addition, for
// example for every goroutine.
const slack = 8
