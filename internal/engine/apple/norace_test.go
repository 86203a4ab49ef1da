//go:build !race

package apple_test

// slack multiplies what a stretch of a long run may leave.
const slack = 1
