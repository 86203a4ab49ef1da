//go:build !linux

package trial

// frames: page frames are not shown.
func frames(...[]byte) Check {
	return skip("sharing/frames", "this system does not show page frames")
}
