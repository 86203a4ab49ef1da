//go:build !linux

package trial

// resident: no system but Linux tells shared and private memory apart here.
func resident() (n int, known bool) { return 0, false }

// frames: page frames are not shown.
func frames(...[]byte) Check {
	return skip("sharing/frames", "this system does not show page frames")
}
