// Package fusetest mounts file systems of tests that do not answer, as one whose server hangs.
package fusetest
