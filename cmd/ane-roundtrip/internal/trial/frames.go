package trial

import "os"

// frames compares the page frames of pairs of views of the same tensor.
func frames(pairs ...view) Check {
	const name = "sharing/frames"
	same, differ := 0, 0
	for i := 0; i < len(pairs); i += 2 {
		for at := 0; at < min(pairs[i].size(), pairs[i+1].size()); at += os.Getpagesize() {
			sharesByte(pairs[i], pairs[i+1], at) // a page exists only after a write
			sharesByte(pairs[i+1], pairs[i], at)
			a, okA := pairs[i].frame(at)
			b, okB := pairs[i+1].frame(at)
			switch {
			case !okA || !okB:
				return Skipped(name, "Linux shows page frames only to root; the other sharing checks do not need them")
			case a == b:
				same++
			default:
				differ++
			}
		}
	}
	return Judge(name, differ == 0 && same > 0, float64(same), "frames",
		"%d page frames are the same on both sides, %d differ", same, differ).Against(AtLeast(float64(max(same+differ,
		1))))
}
