//go:build !race

package apple_test

// slack multiplies the allowed growth of a part of a long run.
const slack = 1
