//go:build race

package apple_test

// slack is how much more the race detector keeps, for every goroutine among others.
const slack = 8
