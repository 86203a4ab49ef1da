//go:build !race

package device_test

// slack multiplies what a stretch of a long run may leave.
const slack = 1
